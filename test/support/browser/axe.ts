import axe, { type AxeResults, type RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

/** Returns what axe finds in a page without frames: the id of each violated rule with the elements that violate it. `rules` are all by default. */
export async function findViolations(page: Page, rules?: string[]): Promise<[rule: string, elements: string[]][]> {
  // Loading axe takes longer than most of its rules, so a page keeps it until it is left.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  const options: RunOptions = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}

/** Waits in the page until it was drawn with its new colors or size. */
export const untilDrawn = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';
