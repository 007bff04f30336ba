import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/** Returns what axe finds in a page without frames: the id of each violated rule with the elements that violate it. `rules` are all by default. */
export async function findViolations(page: Page, rules?: string[]): Promise<[rule: string, elements: string[]][]> {
  // The console has no frames, so that axe need not load a second page for its results, of which only violations are described.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
  const { violations } = await (rules ? axe.withRules(rules) : axe).analyze();
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}
