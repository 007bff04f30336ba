import { inOrg } from '../db/db.ts';
import type { Deps } from '../../app/deps.ts';
import type { Caller } from '../orgs/caller.ts';
import type { ModelList } from '../../detection/runs/run-details.schema.ts';
import { listPauses } from './model-pauses.ts';

const free = { inputPerMillion: 0, outputPerMillion: 0 };

/** The aliases that a detection may name, what each stands for, and whether it is paused for the organization. No secrets. */
export async function getModels({ db, models }: Pick<Deps, 'db' | 'models'>, caller: Caller): Promise<ModelList> {
  const pauses = new Map(
    (await inOrg(db, caller.orgId, (tx) => listPauses(tx, caller.orgId))).map((one) => [one.alias, one]),
  );
  return {
    models: (models?.aliases ?? ['default', 'analyst']).map((alias) => {
      const found = models?.find(alias);
      const pause = pauses.get(alias);
      return {
        alias,
        model: found?.name ?? 'analyst',
        local: found?.entry.local ?? true,
        price: found?.entry.price ?? free,
        paused: pause ? { since: pause.since_at.toISOString(), kind: pause.kind, message: pause.message } : null,
      };
    }),
  };
}
