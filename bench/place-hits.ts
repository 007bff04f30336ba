import { operatorOf } from '../src/platform/http/caller.ts';
import { getHits } from '../src/detection/hits/read-hits.ts';
import { getIncident, getIncidents } from '../src/detection/incidents/read-incidents.ts';
import { findTechnique, listTactics } from '../src/feed/reference-data/attack.ts';
import { startHits, type RaisedHit } from '../test/support/detection/raised-hits.ts';
import { withInProcessProgram } from '../test/support/program-environment.ts';
import { measureMs, median, type Benchmark, type BenchmarkRow } from './benchmark.ts';

const [hits, entities, perRound, rounds] = [10_000, 2_000, 1_000, 15];

/** Hits of one entity are an hour apart, and each shows an address that others of the entity have. */
const toHit = (n: number): RaisedHit => ({
  name: `hit ${n}`,
  at: Math.floor(n / entities),
  entity: `user-${n % entities}`,
  fields: { src_ip: `10.${n % 250}.${Math.floor((n % entities) / 250)}.7`, host: `ws-${n % entities}` },
});

export const placeHitsBenchmark: Benchmark = {
  title: `Incidents: ${hits.toLocaleString('en')} open hits in ${entities.toLocaleString('en')} incidents`,
  run: (report) =>
    withInProcessProgram(async ({ deps: program, db, orgId }) => {
      const deps = { ...program, findTechnique, listTactics };
      const { raise, place } = await startHits(db, orgId);
      report(`raising ${hits} hits`);
      for (let from = 0; from < hits; from += perRound)
        await raise(Array.from({ length: perRound }, (_, n) => toHit(from + n)));
      report('placing them');
      const placedMs = await measureMs(() => place());
      const caller = operatorOf(orgId);
      const measure = async (label: string, work: (round: number) => Promise<unknown>): Promise<BenchmarkRow> => {
        const times: number[] = [];
        for (let round = 0; round < rounds; round += 1) times.push(await measureMs(() => work(round)));
        return { label, unit: 'ms', tocsin: median(times) };
      };
      const { incidents } = await getIncidents(deps, caller, { limit: '1' });
      return [
        { label: 'placing all of them', unit: 's', tocsin: placedMs / 1000 },
        await measure('one more hit, until it is in its incident', async (round) => {
          await raise([toHit(hits + round)]);
          await place();
        }),
        await measure('a page of 100 open hits', () => getHits(deps, caller, { status: 'open', limit: '100' })),
        await measure('a page of 100 active incidents', () =>
          getIncidents(deps, caller, { state: 'active', limit: '100' }),
        ),
        await measure('the same, due first', () =>
          getIncidents(deps, caller, { state: 'active', sort: 'due', limit: '100' }),
        ),
        await measure('one incident', () => getIncident(deps, caller, incidents[0]!.id)),
      ];
    }),
};
