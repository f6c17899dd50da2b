// SPDX-License-Identifier: Apache-2.0

import { render } from 'preact';

import './tokens.css';
import './styles/base.css';
import './styles/page.css';
import './styles/regions.css';
import './styles/results.css';
import './styles/layers.css';
import './styles/graph.css';
import './styles/cuts.css';
import { loadPart } from './job/parts';
import { view, views } from './job/state';
import { App } from './ui/App';
import { listenForFiles } from './ui/drag';
import { keepFocus } from './ui/focus';
import { guardResult, listenForKeys } from './ui/keys';
import { remembered } from './ui/stored';
import { followTitle } from './ui/title';

function show(page: HTMLElement): void {
  remembered('tersor-view', view, views);
  render(<App />, page);
  listenForFiles();
  listenForKeys();
  guardResult();
  keepFocus(page);
  followTitle();
  // the first paint comes before anything else is asked for
  requestAnimationFrame(() =>
    setTimeout(() => void loadPart(() => import('./engine/start')).then((part) => part?.start()), 0),
  );
}

const page = document.getElementById('page');
// a task of its own, apart from that in which all modules were evaluated
if (page) setTimeout(show, 0, page);
