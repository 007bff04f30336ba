import { sql, type RawBuilder } from 'kysely';

/** Runs at the same time by model alias, over all processes. Runs of an alias that is not named need no model. */
export type Places = Readonly<Record<string, number>>;

/** The parts of a claim that hold runs with a model to their places. `room`: places that the lane has left for such runs. */
export type PlaceRules = {
  tables: RawBuilder<unknown>;
  inLane: RawBuilder<unknown>;
  mayRun: (room: RawBuilder<unknown>) => RawBuilder<unknown>;
  ranks: RawBuilder<unknown>;
  isWithin: RawBuilder<unknown>;
};

const none: PlaceRules = {
  tables: sql``,
  inLane: sql`0`,
  mayRun: () => sql`true`,
  ranks: sql`0`,
  isWithin: sql`true`,
};

/** In a lane one place is left to runs without a model, where it has two; and no alias has more runs than its places. */
export function placeRules(places: Places): PlaceRules {
  const names = Object.keys(places);
  if (names.length === 0) return none;
  const needsModel = (of: string): RawBuilder<unknown> =>
    sql`coalesce(${sql.ref(`${of}.model_alias`)} = any(${names}::text[]), false)`;
  return {
    tables: sql`model_places as materialized (
      select m.alias, m.places - (select count(*) from run_queue b where b.state = 'running' and b.model_alias = m.alias) as free
      from unnest(${names}::text[], ${Object.values(places)}::int[]) as m (alias, places)
    ),`,
    inLane: sql`count(*) filter (where ${needsModel('r')})`,
    mayRun: (room) =>
      sql`(not ${needsModel('q')} or (${room} > 0 and q.model_alias not in (select alias from model_places where free <= 0)))`,
    ranks: sql`row_number() over (partition by ${needsModel('run')} order by run.start_at, run.run_id) as nth_with_model,
      row_number() over (partition by run.model_alias order by run.start_at, run.run_id) as nth_of_alias, run.model_room`,
    isWithin: sql`(not ${needsModel('q')} or (oldest.nth_with_model <= oldest.model_room
      and oldest.nth_of_alias <= (select free from model_places where alias = q.model_alias)))`,
  };
}
