import { expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';
import { buildDefinition } from '../../../detection/detections/record/build-detection.ts';
import { findTechnique } from '../../../feed/reference-data/attack.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import { testDefinition } from '../../../detection/testing/run-test-set.ts';
import type { DetectionDraft } from '../draft.ts';
import { logKinds, type LogDataset } from '../log-kinds.ts';
import { compileTemplate, draftTemplatesFor, loadTemplates } from './query-templates.ts';

const { deps, newOrg } = await startApp();
const org = await newOrg();
const caller = { orgId: org.id, keyId: null, scopes: new Set<string>(), expiresAt: null };

/** Returns a dataset with the nth column name of each part, or the last one. */
function buildDataset(kind: keyof typeof logKinds, nth: number): LogDataset {
  const parts: Record<string, readonly string[]> = logKinds[kind].parts;
  return {
    name: `own_${kind.toLowerCase()}`,
    columns: Object.values(parts).map((names) => ({ name: names[Math.min(nth, names.length - 1)]! })),
  };
}

/** Returns the failed tests of a draft, run with the real engine, analysis, and verdict. */
async function findFailedTests(draft: DetectionDraft): Promise<unknown[]> {
  const definition = buildDefinition(caller, draft.body, new Date());
  const tested = { orgId: org.id, detectionId: uuidv7(), definition };
  const { results } = await testDefinition(deps, tested, { tests: draft.tests }, { judge: 'analyst' });
  return results.filter(({ passed }) => !passed);
}

test.each(loadTemplates().map((template) => [template.id, template] as const))(
  '%s finds matching events and ignores similar ones, with ECS names and with other names',
  async (_id, template) => {
    for (const nth of [0, 1]) {
      const draft = compileTemplate(template, buildDataset(template.kind, nth), template.techniques[0]!)!;
      expect(await findFailedTests(draft), draft.body.detectionQuery).toEqual([]);
    }
  },
);

test('templates have unique IDs, known techniques, and names within the limits', () => {
  expect(new Set(loadTemplates().map(({ id }) => id)).size).toBe(loadTemplates().length);
  for (const { id, kind, techniques, name, match, category } of loadTemplates()) {
    expect(
      techniques.filter((technique) => !findTechnique(technique)),
      id,
    ).toEqual([]);
    expect(name.length).toBeLessThan(200);
    expect(match.length > 0 || category === 'baseline_anomaly', id).toBe(true);
    const services = match.map((sample) => (typeof sample === 'object' ? sample['service'] : undefined));
    if (kind === 'cloudtrail') expect(services.every(Boolean), id).toBe(true);
  }
});

test('compiles a template only for datasets with the required columns', () => {
  const columns = (...names: string[]) => [{ name: 'edr', columns: names.map((name) => ({ name })) }];
  expect(draftTemplatesFor('T1505.003', columns('process.command_line'))).toEqual([]);
  expect(draftTemplatesFor('T1505.003', columns('process.command_line', 'ParentImage'))).toHaveLength(1);
  expect(draftTemplatesFor('T9999', columns('CommandLine'))).toEqual([]);
});
