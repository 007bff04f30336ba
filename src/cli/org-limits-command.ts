import { systemClock } from '../platform/lib/clock.ts';
import { nameCommand } from '../platform/orgs/admin/operator.ts';
import { ChangeQuotas, quotaNames, type OrganizationQuotas } from '../platform/orgs/limits/limits.schema.ts';
import { changeQuotas, readOrganizationQuotas, requireOrgId } from '../platform/orgs/limits/quotas.ts';
import { printResult, UsageError } from './usage-error.ts';
import { withDatabase } from './with-database.ts';

type QuotasOptions = { json?: boolean | undefined; set?: string[] | undefined };

/** Prints the quotas of an organization, after changing those of `--set`. */
export async function quotasCommand(name: string, { json, set = [] }: QuotasOptions): Promise<number> {
  const changes = readChanges(set);
  const result = await withDatabase(async (db) => {
    const deps = { db, clock: systemClock };
    if (set.length > 0) return changeQuotas(deps, { name }, { changes, operator: nameCommand('tocsin org quotas') });
    return readOrganizationQuotas(deps, await requireOrgId(db, { name }));
  });
  return printResult(json, result, formatQuotas(result));
}

function readChanges(settings: readonly string[]): ChangeQuotas {
  const entries = settings.map((text) => {
    const [quota = '', value = ''] = text.split('=');
    if (!(quotaNames as readonly string[]).includes(quota))
      throw new UsageError(`--set ${text}: the quotas are ${quotaNames.join(', ')}.`);
    return [quota, value === 'none' ? null : value === '' ? Number.NaN : Number(value)];
  });
  const parsed = ChangeQuotas.safeParse(Object.fromEntries(entries));
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
