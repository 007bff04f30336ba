import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Returns what axe finds in a page without frames: the id of each violated rule with the elements that violate it. `rules` are all by default. */
export async function findViolations(page: Page, rules?: string[]): Promise<[rule: string, elements: string[]][]> {
  // Once per document, because reading the program costs more than a few of its rules.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
  const options: axe.RunOptions = {
    resultTypes: ['violations'],
    ...(rules ? { runOnly: { type: 'rule', values: rules } } : {}),
  };
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}
