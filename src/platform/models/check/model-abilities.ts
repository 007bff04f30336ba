import { hash } from 'node:crypto';
import type { Db } from '../../db/db.ts';
import type { Abilities, AliasAbilities } from '../calls/model-call.ts';
import { OutputWay } from '../model-request.ts';
import type { ModelEntry } from '../providers.ts';
import { listAbilitiesAcrossOrgs, storeAbilitiesAcrossOrgs, type AbilitiesRow } from './model-abilities.store.ts';

/** What is known of each alias: by default what its provider is known for, then what calls and checks found out. */
export type AbilitiesStore = {
  of: (alias: string, entry: ModelEntry) => AliasAbilities;
  /** Stores what a check found. */
  store: (row: AbilitiesRow) => Promise<void>;
};

/** How often a process stores that an alias does not fit. */
const misfitIntervalMs = 600_000;
/** How long a process may not know what another one found out. */
const maxAgeMs = 60_000;

/** Keeps what is known of the aliases in the table `model_abilities`, or without a database in memory. */
export function createAbilitiesStore(db?: Db): AbilitiesStore {
  const rows = new Map<string, AbilitiesRow>();
  let readAt = -Infinity;
  let reading: Promise<void> | undefined;
  const refresh = async (from: Db): Promise<void> => {
    try {
      for (const row of await listAbilitiesAcrossOrgs(from)) rows.set(row.alias, row);
      readAt = performance.now();
    } catch {
      // A call that knows nothing of its alias finds out itself.
    }
  };
  const read = async (): Promise<void> => {
    if (!db || performance.now() - readAt < maxAgeMs) return;
    reading ??= refresh(db).finally(() => (reading = undefined));
    await reading;
  };
  const store = async (row: AbilitiesRow): Promise<void> => {
    rows.set(row.alias, row);
    if (db) await storeAbilitiesAcrossOrgs(db, row);
  };
  return {
    store,
    of: (alias, entry) => {
      const fingerprint = fingerprintOf(entry);
      let misfitStoredAt = -Infinity;
      const find = async (): Promise<Abilities> => {
        await read();
        const row = rows.get(alias);
        return row?.fingerprint === fingerprint ? row : unknownAlias;
      };
      const change = ({ ways, callsTools }: Abilities, misfitKind: string | null): void => {
        const misfitAt = misfitKind === null ? null : new Date();
        const row = { alias, fingerprint, ways: [...ways], callsTools, report: null, misfitKind, misfitAt };
        void store(row).catch(() => undefined);
      };
      return {
        find,
        learn: (abilities) => change(abilities, null),
        reportMisfit: async (kind) => {
          if (performance.now() - misfitStoredAt < misfitIntervalMs) return;
          misfitStoredAt = performance.now();
          change(await find(), kind);
        },
      };
    },
  };
}

const unknownAlias: Abilities = { ways: OutputWay.options, callsTools: true };

/** Returns a hash of what decides about the abilities of an alias. It contains no secret. */
export function fingerprintOf({
  provider,
  model,
  baseUrl,
  contextTokens,
  maxOutputTokens,
  reasoningEffort,
}: ModelEntry): string {
  const settings = [provider, model, baseUrl, contextTokens, maxOutputTokens, reasoningEffort];
  return hash('sha256', JSON.stringify(settings)).slice(0, 32);
}
