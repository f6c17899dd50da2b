// SPDX-License-Identifier: Apache-2.0

import { render } from 'preact';

import './tokens.css';
import './styles/base.css';
import './styles/page.css';
import './styles/regions.css';
import './styles/results.css';
import { App } from './ui/App';
import { listenForFiles } from './ui/drag';
import { listenForKeys } from './ui/keys';
import { followTitle } from './ui/title';

const page = document.getElementById('page');
if (page) {
  render(<App />, page);
  listenForFiles();
  listenForKeys();
  followTitle();
  // the first paint comes before anything else is asked for
  requestAnimationFrame(() => setTimeout(() => void import('./engine/start').then(({ start }) => start()), 0));
}
