import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listTechniqueIds, getLibraryEntry } from '../../src/detection/library/load-library.ts';
import { executeDueRuns } from '../../src/detection/runs/workers/run-loops.ts';
import { dataDir } from '../support/data.ts';
import { startApp } from '../support/harness.ts';

const folder = dataDir();

/** The steps of the simulated attack: detection that finds it, entity, API calls, ATT&CK technique. */
const attack = [
  ['aws-cloudtrail-disabled', 'user/bert-jan', ['StopLogging', 'DeleteTrail', 'PutEventSelectors'], 'T1685.002'],
  ['aws-new-user-made-admin', 'malicious-iam-user', ['CreateUser', 'AttachUserPolicy', 'CreateAccessKey'], 'T1136.003'],
  ['aws-secrets-harvested', 'user/bert-jan', [], 'T1555.006'],
  ['aws-data-shared-outside', 'user/bert-jan', ['ModifyImageAttribute', 'ModifySnapshotAttribute'], 'T1537'],
  ['aws-outside-trust', 'user/bert-jan', ['UpdateAssumeRolePolicy', 'CreateTrustAnchor'], 'T1098'],
  ['aws-guardrails-removed', 'role/stratus-red-team-leave-org-role', ['LeaveOrganization'], 'T1666'],
  ['aws-instance-secrets-collected', 'role/stratus-red-team-ec2-get-password-data-role', ['GetPasswordData'], 'T1552'],
  ['aws-security-group-opened', 'user/bert-jan', ['AuthorizeSecurityGroupIngress'], 'T1686.001'],
] as const;

test.skipIf(folder === undefined)(
  'shipped detections find the recorded attack and cite its rows as evidence',
  async () => {
    let now = new Date('2023-07-10T11:00:00Z');
    const { newOrg, deps } = await startApp({ clock: () => now });
    const org = await newOrg();
    const ids = new Map<string, string>();
    for (const [shipped] of attack) {
      const { body } = getLibraryEntry(shipped);
      ids.set(shipped, (await org.call('POST', '/api/detections', body)).body.id);
    }
    now = new Date('2023-07-10T12:45:00Z');
    const logs = join(folder!, 'logs/cloudtrail');
    let accepted = 0;
    for (const name of readdirSync(logs).filter((file) => file.endsWith('.gz'))) {
      const receipt = await org.call('POST', '/api/logs/cloudtrail', readFileSync(join(logs, name)), {
        'content-encoding': 'gzip',
      });
      accepted += receipt.body.accepted;
    }
    expect(accepted).toBe(2900);
    now = new Date('2023-07-10T13:00:00Z');
    await executeDueRuns(deps, now);
    for (const [shipped, entity, calls, technique] of attack) {
      expect(listTechniqueIds(getLibraryEntry(shipped)).join(' '), shipped).toContain(technique);
      const { body } = await org.call('GET', `/api/hits?detection=${ids.get(shipped)}`);
      // The events of the attack lie on both sides of a slot boundary, so an entity may have a hit in each slot.
      const hits = body.hits.filter((one: { entity: string }) => one.entity.endsWith(entity));
      expect(hits.length, `${shipped} names ${entity}`).toBeGreaterThan(0);
      const rows = [];
      for (const hit of hits) {
        const detail = (await org.call('GET', `/api/hits/${hit.id}`)).body;
        expect(detail.evidence.length, shipped).toBeGreaterThan(0);
        const fields = new Map(detail.rows.map((row: { rowId: string; fields: object }) => [row.rowId, row.fields]));
        for (const { observation, rowId, field, value } of detail.evidence) {
          if (observation !== 'rows') continue;
          expect((fields.get(rowId) as Record<string, unknown> | undefined)?.[field], shipped).toContain(value);
        }
        rows.push(...detail.rows);
      }
      for (const call of calls) expect(JSON.stringify(rows), `${shipped} shows ${call}`).toContain(call);
    }
  },
);
