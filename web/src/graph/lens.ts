// SPDX-License-Identifier: Apache-2.0
//
// What the window shows of the graph: a camera that is moved, and the two canvases that are painted after it.

import {
  atStart,
  centredOn,
  coloursOf,
  drawOverview,
  drawScene,
  fitted,
  within,
  type Camera,
  type Colours,
  type Frame,
  type Scene,
} from './scene';

export const overviewBox = { width: 76, height: 132 };

/** What is to be seen. */
export interface Shown {
  readonly scene: Scene;
  readonly selected: number | null;
  readonly found: ReadonlySet<number>;
}

/** The elements that it is seen in. */
interface Surface {
  readonly host: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly overview: HTMLCanvasElement;
}

function sized(canvas: HTMLCanvasElement, { width, height }: Frame): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const context = canvas.getContext('2d', { alpha: false });
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

export class Lens {
  /** Null until it was painted first. */
  camera: Camera | null = null;
  surface: Surface | null = null;
  #frame: Frame = { width: 0, height: 0 };
  #colours: Colours | null = null;
  /** Number of the animation frame that was asked for; 0: none. */
  #asked = 0;
  #layout: Scene['laid'] | null = null;

  constructor(public shown: Shown) {}

  #paint(): void {
    this.#asked = 0;
    const frame = this.#frame;
    if (!this.surface || frame.width === 0) return;
    const { host, canvas, overview } = this.surface;
    const { scene, selected, found } = this.shown;
    if (this.#layout !== scene.laid || !this.camera) {
      this.camera = selected === null ? atStart(scene, frame) : centredOn(scene, selected, frame, 1);
      this.#layout = scene.laid;
    }
    const [large, small] = [sized(canvas, frame), sized(overview, overviewBox)];
    const marks = { selected, found, focused: document.activeElement === host };
    const camera = this.camera;
    const colours = (this.#colours ??= coloursOf(host));
    if (large) drawScene({ context: large, scene, camera, frame, colours, marks });
    if (small) drawOverview(small, scene, camera, frame, overviewBox, colours);
  }

  /** Painted once before the next frame, however often it is asked for. */
  ask = (): void => {
    this.#asked ||= requestAnimationFrame(() => this.#paint());
  };

  /** The page's colours may be others. */
  recolour = (): void => {
    this.#colours = null;
    this.ask();
  };

  close(): void {
    this.surface = null;
    cancelAnimationFrame(this.#asked);
  }

  /** Paints at once; what stood in the middle stays there. */
  resize(frame: Frame): void {
    if (frame.width === 0) return;
    const before = this.#frame;
    this.#frame = frame;
    if (this.camera && before.width > 0) {
      const x = this.camera.x + (before.width - frame.width) / 2 / this.camera.scale;
      this.camera = within({ ...this.camera, x }, this.shown.scene.extent, frame);
    }
    this.#paint();
  }

  #look(camera: Camera): void {
    this.camera = within(camera, this.shown.scene.extent, this.#frame);
    this.ask();
  }

  /** By so many pixels of the window. */
  pan(x: number, y: number): void {
    const { camera } = this;
    if (camera) this.#look({ ...camera, x: camera.x + x / camera.scale, y: camera.y + y / camera.scale });
  }

  /** By parts of the window. */
  page(x: number, y: number): void {
    this.pan(x * this.#frame.width, y * this.#frame.height);
  }

  /** `x`, `y`: the point of the window that stays where it is. */
  zoom(factor: number, x = this.#frame.width / 2, y = this.#frame.height / 2): void {
    const { camera } = this;
    if (!camera) return;
    const { scale } = within({ ...camera, scale: camera.scale * factor }, this.shown.scene.extent, this.#frame);
    this.#look({ scale, x: camera.x + x / camera.scale - x / scale, y: camera.y + y / camera.scale - y / scale });
  }

  fit = (): void => this.#look(fitted(this.shown.scene, this.#frame));

  /** Node `k` comes into the window, unless it is well inside. */
  to(k: number): void {
    const { camera } = this;
    if (!camera) return;
    const { scene } = this.shown;
    const scale = Math.max(camera.scale, 0.85);
    const [width, height] = [this.#frame.width / scale, this.#frame.height / scale];
    const inside =
      scale === camera.scale &&
      Math.abs((scene.laid.x[k] ?? 0) - camera.x - width / 2) < width / 2 - 110 &&
      Math.abs((scene.laid.y[k] ?? 0) - camera.y - height / 2) < height / 2 - 50;
    if (inside) this.ask();
    else this.#look(centredOn(scene, k, this.#frame, scale));
  }

  /** The point at these parts of the graph's extent comes into the middle. */
  jump(x: number, y: number): void {
    if (!this.camera) return;
    const { scale } = this.camera;
    const { left, right, top, bottom } = this.shown.scene.extent;
    this.#look({
      scale,
      x: left + x * (right - left) - this.#frame.width / scale / 2,
      y: top + y * (bottom - top) - this.#frame.height / scale / 2,
    });
  }
}
