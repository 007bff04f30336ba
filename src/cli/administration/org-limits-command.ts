import type { z } from 'zod';
import { exportUsage, usageDaysMax } from '../../app/usage/list-usage.ts';
import { systemClock, lastUtcDays } from '../../platform/lib/time/clock.ts';
import { nameCommand } from '../../platform/orgs/administer-organizations.ts';
import { ChangeQuotas, quotaNames, type OrganizationQuotas } from '../../platform/orgs/limits/limits.schema.ts';
import { changeQuotas, readOrganizationQuotas, requireOrgId } from '../../platform/orgs/limits/quotas.ts';
import { limitRetention, readOrganizationRetention } from '../../platform/retention/retention.ts';
import { ChangeRetention, retentionKinds } from '../../platform/retention/retention.schema.ts';
import { printResult, printText } from '../support/output.ts';
import { UsageError } from '../support/failures.ts';
import { withDatabase } from '../support/with-database.ts';

type UsageOptions = { json?: boolean | undefined; days: string };

/** Prints the usage of one or all organizations by day, as CSV or lines of JSON. */
export async function usageCommand(name: string | undefined, { json, days }: UsageOptions): Promise<number> {
  if (!/^[1-9]\d{0,2}$/.test(days) || Number(days) > usageDaysMax)
    throw new UsageError(`--days must be a whole number from 1 to ${usageDaysMax}.`);
  const from = lastUtcDays(systemClock(), Number(days))[0]!;
  await withDatabase(async (db) => {
    const organization = name === undefined ? undefined : await requireOrgId(db, { name });
    const deps = { db, clock: systemClock };
    for await (const lines of exportUsage(deps, { from, format: json ? 'ndjson' : 'csv' }, organization))
      printText(lines.replace(/\n$/, ''));
  });
  return 0;
}

type SetOptions = { json?: boolean | undefined; set?: string[] | undefined };

/** Prints the quotas of an organization, after changing those of `--set`. */
export async function quotasCommand(name: string, { json, set = [] }: SetOptions): Promise<number> {
  const changes = readChanges(set, quotaNames, ChangeQuotas);
  const result = await withDatabase(async (db) => {
    const deps = { db, clock: systemClock };
    if (set.length > 0) return changeQuotas(deps, { name }, { changes, operator: nameCommand('tocsin org quotas') });
    return readOrganizationQuotas(deps, await requireOrgId(db, { name }));
  });
  return printResult(json, result, formatQuotas(result));
}

/** Prints how long data of an organization is kept, after changing the maxima of `--set`. */
export async function retentionCommand(name: string, { json, set = [] }: SetOptions): Promise<number> {
  const changes = readChanges(set, retentionKinds, ChangeRetention);
  const result = await withDatabase(async (db, { keep }) => {
    const operator = nameCommand('tocsin org retention');
    if (set.length > 0) return limitRetention({ db, keep }, { name }, { changes, operator });
    return readOrganizationRetention({ db, keep }, await requireOrgId(db, { name }));
  });
  const lines = retentionKinds.map((kind) => `${kind.padEnd(10)}  ${result[kind]}  at most ${result.allowed[kind]}`);
  return printResult(json, result, lines);
}

/** Reads options such as `apiKeys=5` and `apiKeys=none`. */
function readChanges<T>(settings: readonly string[], names: readonly string[], schema: z.ZodType<T>): T {
  const entries = settings.map((text) => {
    const [name = '', value = ''] = text.split('=');
    if (!names.includes(name)) throw new UsageError(`--set ${text}: the names are ${names.join(', ')}.`);
    return [name, value === 'none' ? null : value === '' ? Number.NaN : Number(value)];
  });
  const parsed = schema.safeParse(Object.fromEntries(entries));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UsageError(`--set ${issue!.path.join('.')}: must be a number or none. ${issue!.message}.`);
}

function formatQuotas({ quotas, states }: OrganizationQuotas): string {
  const width = Math.max(...quotaNames.map((quota) => quota.length));
  return quotaNames
    .map((quota) => {
      const state = states.find((one) => one.quota === quota);
      const use = state ? `  ${state.used} used, ${Math.round(state.share * 100)} %  ${state.level}` : '';
      return `${quota.padEnd(width)}  ${quotas[quota] ?? 'none'}${use}`;
    })
    .join('\n');
}
