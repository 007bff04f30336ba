import { expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';
import { definitionOf } from '../../../detection/detections/record/new-detection.ts';
import { builtinDetections } from '../../../detection/built-in/registry.ts';
import { findTechnique } from '../../../feed/reference-data/attack.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import { testDefinition } from '../../../detection/testing/run-tests.ts';
import type { Draft } from '../draft.ts';
import { logKinds, type Dataset } from '../drafting/log-datasets.ts';
import { shippedDraft } from '../drafting/shipped-drafts.ts';
import { compileTemplate, templatesFor } from './compile-template.ts';
import { templates } from './registry.ts';

const { deps, newOrg } = await startApp();
const org = await newOrg();
const caller = { orgId: org.id, keyId: null, scopes: new Set<string>() };

/** A dataset whose events have the nth name of each part, or the last that there is. */
function datasetOf(kind: keyof typeof logKinds, nth: number): Dataset {
  const parts: Record<string, readonly string[]> = logKinds[kind].parts;
  return {
    name: `own_${kind.toLowerCase()}`,
    columns: Object.values(parts).map((names) => ({ name: names[Math.min(nth, names.length - 1)]! })),
  };
}

/** What the draft's own tests say, through the real engine, analysis and verdict. */
async function wrong(draft: Draft): Promise<unknown[]> {
  const definition = definitionOf(caller, draft.body, new Date());
  const tested = { orgId: org.id, detectionId: uuidv7(), definition };
  const { results } = await testDefinition(deps, tested, { tests: draft.tests }, { judge: 'analyst' });
  return results.filter(({ passed }) => !passed);
}

test.each(templates.map((template) => [template.id, template] as const))(
  '%s finds what it is for and nothing that only looks like it, in ECS names and in others',
  async (_id, template) => {
    for (const nth of [0, 1]) {
      const draft = compileTemplate(template, datasetOf(template.kind, nth), template.techniques[0]!)!;
      expect(await wrong(draft), draft.body.detectionQuery).toEqual([]);
    }
  },
);

test.each(Object.values(builtinDetections).map((one) => [one.id, one] as const))(
  'the shipped detection %s passes the tests that its suggestion carries',
  async (_id, detection) => expect(await wrong(shippedDraft(detection, null))).toEqual([]),
);

test('ids are unique, techniques are known, and texts fit the contract', () => {
  expect(new Set(templates.map(({ id }) => id)).size).toBe(templates.length);
  for (const { id, techniques, name, match, category } of templates) {
    expect(
      techniques.filter((technique) => !findTechnique(technique)),
      id,
    ).toEqual([]);
    expect(name.length).toBeLessThan(200);
    expect(match.length > 0 || category === 'baseline_anomaly', id).toBe(true);
  }
});

test('a template runs only where the columns are that it needs', () => {
  const columns = (...names: string[]) => [{ name: 'edr', columns: names.map((name) => ({ name })) }];
  expect(templatesFor('T1505.003', columns('process.command_line'))).toEqual([]);
  expect(templatesFor('T1505.003', columns('process.command_line', 'ParentImage'))).toHaveLength(1);
  expect(templatesFor('T9999', columns('CommandLine'))).toEqual([]);
});
