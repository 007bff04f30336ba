import { sql } from 'kysely';
import { acrossOrgs, queryRows, type Db } from '../../db/db.ts';
import type { OutputWay } from '../model-request.ts';
import type { ModelCheck } from './model-check.schema.ts';

/** What is known of an alias, as long as its entry has the same fingerprint. `report` is that of the latest check. */
export type AbilitiesRow = {
  alias: string;
  fingerprint: string;
  ways: OutputWay[];
  callsTools: boolean;
  report: ModelCheck | null;
  /** The latest call since the report that showed that the model or its settings do not fit. */
  misfitKind: string | null;
  misfitAt: Date | null;
};

/** Returns what is known of every alias of the installation. It concerns no organization. */
export function listAbilitiesAcrossOrgs(db: Db): Promise<AbilitiesRow[]> {
  return acrossOrgs(
    db,
    (tx) => queryRows<AbilitiesRow>(tx)`
    select alias, fingerprint, ways, calls_tools as "callsTools", report::json as report,
      misfit_kind as "misfitKind", misfit_at as "misfitAt" from model_abilities`,
  );
}

/** Stores what is known of an alias. A report ends the misfit. Without one, report and misfit of the same entry stay, unless there is a new misfit. */
export async function storeAbilitiesAcrossOrgs(db: Db, row: AbilitiesRow): Promise<void> {
  const { alias, fingerprint, ways, callsTools, report, misfitKind, misfitAt } = row;
  const text = report === null ? null : JSON.stringify(report);
  await acrossOrgs(db, (tx) =>
    sql`
    insert into model_abilities as a (alias, fingerprint, ways, calls_tools, report, misfit_kind, misfit_at)
    values (${alias}, ${fingerprint}, ${ways}::text[], ${callsTools}, ${text}, ${misfitKind}, ${misfitAt})
    on conflict (alias) do update set fingerprint = excluded.fingerprint, ways = excluded.ways, calls_tools = excluded.calls_tools,
      report = coalesce(excluded.report, case when a.fingerprint = excluded.fingerprint then a.report end),
      misfit_kind = case when excluded.report is null and excluded.misfit_kind is null and a.fingerprint = excluded.fingerprint
        then a.misfit_kind else excluded.misfit_kind end,
      misfit_at = case when excluded.report is null and excluded.misfit_kind is null and a.fingerprint = excluded.fingerprint
        then a.misfit_at else excluded.misfit_at end`.execute(tx),
  );
}
