import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { dataDir } from '../../test/support/data.ts';
import { getLibraryEntry } from '../detection/library/load-library.ts';
import { openSampleEngine, type SampleEngine, type SampleEvent } from './sample-engine.ts';

const queryOf = (id: string): string => getLibraryEntry(id).body.detectionQuery;

const data = dataDir();

function recordedEvents(folder: string): SampleEvent[] {
  return readdirSync(folder).flatMap((file) => {
    const { Records } = JSON.parse(gunzipSync(readFileSync(join(folder, file))).toString()) as { Records: object[] };
    return Records.map((event) => ({ dataset: 'cloudtrail', event: { ...event } }));
  });
}

const arn = (end: string) => `arn:aws:iam::123837392027:${end}`;

/** The actions of the recorded simulation: detection, entity, a column and the values it must contain as evidence. */
const attack: [id: string, entity: string, column: string, values: string[]][] = [
  ['aws-cloudtrail-disabled', arn('user/bert-jan'), 'action', ['DeleteTrail', 'PutEventSelectors', 'StopLogging']],
  ['aws-monitoring-removed', arn('user/bert-jan'), 'action', ['DeleteFlowLogs']],
  ['aws-log-bucket-expiry', arn('user/bert-jan'), 'days', ['1']],
  ['aws-guardrails-removed', arn('role/stratus-red-team-leave-org-role'), 'action', ['LeaveOrganization']],
  ['aws-instance-secrets-collected', arn('role/stratus-red-team-ec2-get-password-data-role'), 'count', ['29']],
  ['aws-instance-secrets-collected', arn('role/stratus-red-team-get-usr-data-role'), 'count', ['15']],
  ['aws-secrets-harvested', arn('user/bert-jan'), 'actions', ['GetParameter, GetParameters, GetSecretValue']],
  ['aws-compute-hijacked', arn('role/stratus-red-team-ec2lui-role-pcccexdthk'), 'instance_type', ['p2.xlarge']],
  ['aws-security-group-opened', arn('user/bert-jan'), 'exposed_port', ['22']],
  ['aws-data-shared-outside', arn('user/bert-jan'), 'shared_with', ['012345678901', '012345678912', '193672423079']],
  ['aws-console-login-without-mfa', arn('user/stratus-red-team-nmfalu-gfjyeaypjt'), 'mfa_used', ['No']],
  ['aws-outside-trust', arn('user/bert-jan'), 'trusted', ['193672423079', 'an outside identity provider']],
  [
    'aws-credential-for-other-user',
    arn('user/bert-jan'),
    'for_user',
    ['malicious-iam-user', 'stratus-red-team-backdoor-u-user'],
  ],
  [
    'aws-admin-policy-attached',
    arn('user/bert-jan'),
    'target',
    ['malicious-iam-user', 'stratus-red-team-backdoor-r-role'],
  ],
  ['aws-new-user-made-admin', 'malicious-iam-user', 'action', ['AttachUserPolicy', 'CreateAccessKey', 'CreateUser']],
  ['aws-function-opened', arn('user/bert-jan'), 'opened_to', ['*']],
  ['aws-function-code-overwritten', arn('user/bert-jan'), 'function_name', ['stratus-red-team-olc-func-xhfgzaowxc']],
  ['aws-command-on-instance', arn('user/bert-jan'), 'document', ['AWS-RunShellScript']],
];

describe.skipIf(data === undefined)('the recorded CloudTrail attack', () => {
  let engine: SampleEngine;
  beforeAll(async () => {
    engine = await openSampleEngine(recordedEvents(join(String(data), 'logs/cloudtrail')));
  });
  afterAll(() => engine.close());

  test.each(attack)('%s finds %s', async (id, entity, column, values) => {
    const { detectionQuery, entityField } = getLibraryEntry(id).body;
    const rows = (await engine.run(detectionQuery)).filter((row) => row[entityField!] === entity);
    expect([...new Set(rows.map((row) => String(row[column])))]).toEqual(expect.arrayContaining(values));
  });

  test('finds instance credentials used outside the instance', async () => {
    const rows = await engine.run(queryOf('aws-instance-role-elsewhere'));
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ addresses: 2, session: expect.stringContaining('/i-0dbc91f429e48eeed') });
  });

  test('does not report the calls that restored the account at the end', async () => {
    const rows = await engine.run(queryOf('aws-cloudtrail-disabled'));
    expect(rows.filter((row) => row['action'] === 'PutEventSelectors')).toHaveLength(1);
    const shared = await engine.run(queryOf('aws-data-shared-outside'));
    expect(shared).toHaveLength(4);
    expect(await engine.run(queryOf('aws-security-group-opened'))).toHaveLength(1);
  });
});
