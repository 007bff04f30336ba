import { mkdtempSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pullFolder } from '../../../src/detection/shippers/pull-folder.ts';
import type { Deps } from '../../../src/app/deps.ts';
import type { TestOrg } from '../harness.ts';

/** Reads a folder of flow logs into the organization. */
export async function fillLogFolder(deps: Deps, { key }: TestOrg): Promise<void> {
  const path = mkdtempSync(join(deps.config.dataDir, 'flows-'));
  const file = join(path, 'flows.log');
  writeFileSync(file, 'start srcaddr\n1772366400 192.0.2.1\n');
  utimesSync(file, deps.clock(), new Date(Date.now() - 60_000));
  const settings = {
    location: { path },
    format: 'vpc-flow',
    key,
    dataset: 'vpcflow',
    days: 90,
    everySeconds: 60,
  } as const;
  await pullFolder(deps, 'filled', settings, new AbortController().signal);
}
