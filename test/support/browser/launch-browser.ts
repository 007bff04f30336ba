import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import bundledChromium from '@sparticuz/chromium';
import { chromium, type Browser } from 'playwright-core';

/**
 * Starts headless Chromium: the one inside `@sparticuz/chromium` on Linux, elsewhere an installed Chrome. It is unpacked at the first use
 * on a machine.
 */
export async function launchBrowser(): Promise<Browser> {
  const isBundled = process.platform === 'linux';
  return chromium.launch({
    ...(isBundled ? { executablePath: await unpackOnce() } : { channel: 'chrome' }),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  });
}

/** Unpacks the browser. Processes may start side by side, so that a folder serves as a lock. */
async function unpackOnce(): Promise<string> {
  const lock = join(tmpdir(), 'tocsin-chromium.lock');
  for (let waits = 0; ; waits += 1) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      // A run that was killed leaves its lock behind.
      if (waits > 300) rmSync(lock, { recursive: true, force: true });
      await sleep(200);
    }
  }
  try {
    return await bundledChromium.executablePath();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}
