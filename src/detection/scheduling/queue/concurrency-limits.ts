import { sql, type RawBuilder } from 'kysely';

/** Maximum number of concurrent runs by model alias, across all processes. Runs of any other alias need no model. */
export type ConcurrencyLimits = Readonly<Record<string, number>>;

/**
 * The parts of the claim statement that enforce concurrency limits. Each alias has its limit, and a lane that may run two or
 * more reserves one place for runs without a model.
 */
export type ConcurrencyRules = {
  /** CTE with the free places of each alias. Null without limits. */
  freePlacesCte: RawBuilder<unknown> | null;
  /** Aggregate over `run_queue r`: the number of runs with a model. */
  countWithModel: RawBuilder<unknown>;
  /** Condition on `run_queue q`: neither its lane nor its alias is full. `lanePlaces` is what the lane has left for runs with a model. */
  hasPlace: (lanePlaces: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** Columns of `candidate_runs` that rank its rows for `isWithinPlaces`. */
  rankColumns: RawBuilder<unknown>;
  /** Condition on `ranked_runs`: the runs ranked before this one leave it a place. */
  isWithinPlaces: RawBuilder<unknown>;
};

const withoutLimits: ConcurrencyRules = {
  freePlacesCte: null,
  countWithModel: sql`0`,
  hasPlace: () => sql`true`,
  rankColumns: sql`0`,
  isWithinPlaces: sql`true`,
};

export function createConcurrencyRules(limits: ConcurrencyLimits): ConcurrencyRules {
  const aliases = Object.keys(limits);
  if (aliases.length === 0) return withoutLimits;
  const needsModel = (table: string): RawBuilder<unknown> =>
    sql`coalesce(${sql.ref(`${table}.model_alias`)} = any(${aliases}::text[]), false)`;
  return {
    freePlacesCte: sql`free_model_places as materialized (
      select m.alias, m.places - (select count(*) from run_queue b where b.state = 'running' and b.model_alias = m.alias) as free
      from unnest(${aliases}::text[], ${Object.values(limits)}::int[]) as m (alias, places)
    )`,
    countWithModel: sql`count(*) filter (where ${needsModel('r')})`,
    hasPlace: (lanePlaces) =>
      sql`(not ${needsModel('q')} or (${lanePlaces} > 0 and q.model_alias not in (select alias from free_model_places where free <= 0)))`,
    rankColumns: sql`row_number() over (partition by ${needsModel('run')} order by run.start_at, run.run_id) as nth_with_model,
      row_number() over (partition by run.model_alias order by run.start_at, run.run_id) as nth_of_alias, run.lane_model_places`,
    isWithinPlaces: sql`(not ${needsModel('q')} or (ranked_runs.nth_with_model <= ranked_runs.lane_model_places
      and ranked_runs.nth_of_alias <= (select free from free_model_places where alias = q.model_alias)))`,
  };
}
