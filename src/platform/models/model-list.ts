import { z } from 'zod';
import { inOrg, type Db } from '../db/db.ts';
import type { Caller } from '../http/caller.ts';
import { findModelPauses } from './model-pauses.store.ts';
import { builtInAliases, type Models } from './models.ts';

export type ListModelsDeps = { db: Db; models?: Models };

const free = { inputPerMillion: 0, outputPerMillion: 0 };

/** Lists the aliases that a detection may use, the model behind each, and whether it is paused for the organization. Contains no secrets. */
export async function listModels({ db, models }: ListModelsDeps, { orgId }: Caller): Promise<ModelList> {
  const pauses = await inOrg(db, orgId, (tx) => findModelPauses(tx, orgId));
  const pauseByAlias = new Map(pauses.map((pause) => [pause.alias, pause]));
  return {
    models: (models?.aliases ?? builtInAliases).map((alias) => {
      const model = models?.find(alias);
      const pause = pauseByAlias.get(alias);
      return {
        alias,
        model: model?.name ?? 'analyst',
        local: model?.entry.local ?? true,
        price: model?.entry.price ?? free,
        paused: pause ? { since: pause.since_at.toISOString(), kind: pause.kind, message: pause.message } : null,
      };
    }),
  };
}

export const ModelList = z.object({
  models: z.array(
    z.object({
      alias: z.string(),
      model: z.string().describe('Provider and model, or `analyst`.'),
      local: z.boolean(),
      price: z.object({
        inputPerMillion: z.number(),
        outputPerMillion: z.number(),
        cachedInputPerMillion: z.number().optional(),
        cacheWritePerMillion: z.number().optional(),
      }),
      paused: z.object({ since: z.string(), kind: z.string(), message: z.string() }).nullable(),
    }),
  ),
});
export type ModelList = z.infer<typeof ModelList>;
