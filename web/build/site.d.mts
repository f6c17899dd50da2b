// SPDX-License-Identifier: Apache-2.0
import type { Plugin, UserConfig } from 'vite';

export function writePolicy(): Plugin;
export function importPlainly(): Plugin;
export function fitPackage(): Plugin;
export function noteLinked(): Plugin;
export function finishSite(config: UserConfig): Plugin;
export function demoFacts(folder: string): Promise<{ modelBytes: number; samples: number; bytes: number }>;
