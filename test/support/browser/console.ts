import type { Page } from 'playwright-core';
import { startApp, type TestApp, type TestOrg } from '../harness.ts';

/** The whole program with the built console, listening on a free port. */
export type TestConsole = TestApp & { origin: string };

export async function startConsole(options: Parameters<typeof startApp>[0] = {}): Promise<TestConsole> {
  const started = await startApp(options);
  const origin = await started.app.listen({ port: 0, host: '127.0.0.1' });
  return { ...started, origin };
}

/** Signs in with the key of an organization and opens a page of the console. */
export async function signIn(page: Page, origin: string, { key }: TestOrg, path = '/'): Promise<void> {
  await page.goto(`${origin}/console${path}`);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${origin}/console${path}`);
}
