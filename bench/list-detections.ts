import { withDataDir, withRunningProgram } from '../test/support/program-environment.ts';
import { compareCachedPages } from './list-items.ts';
import { measureMs, median, type Benchmark, type BenchmarkRow } from './benchmark.ts';

const [detections, perRound, changes] = [10_000, 20, 5];

const toDetection = (n: number): object => ({
  name: `Detection ${n}`,
  description: `Reports what number ${n} describes.`,
  detectionCategory: 'custom',
  detectionCadence: 'hourly',
  enabled: false,
  systemPrompt: `Judge the rows of query ${n}. `.repeat(10),
  entityField: 'user',
  tags: ['benchmark', `team-${n % 50}`],
  detectionQuery: `SELECT _id, _time, "user" FROM auth WHERE action = 'action ${n}'`,
});

export const listDetectionsBenchmark: Benchmark = {
  title: `\`GET /api/detections\` of ${detections.toLocaleString('en')} detections against a bare \`node:http\` server that sends the same bytes`,
  note: 'Each request asks the database whether a row that the list shows has changed. If none has, the response is the cached bytes, or 304. After a change, the list is read and written again.',
  run: (report) =>
    withRunningProgram({}, async (running) => {
      report(`creating ${detections} detections`);
      for (let from = 0; from < detections; from += perRound)
        await Promise.all(
          Array.from({ length: perRound }, (_, n) => running.call('POST', '/api/detections', toDetection(from + n))),
        );
      report('measuring');
      const path = '/api/detections';
      const rows = await withDataDir((dir) => compareCachedPages(dir, running, { path, connections: 4, seconds: 8 }));
      const afterChange: number[] = [];
      for (let n = 0; n < changes; n += 1) {
        await running.call('POST', path, toDetection(detections + n));
        afterChange.push(await measureMs(() => running.call('GET', path)));
      }
      const changed: BenchmarkRow = {
        label: 'the first request after a change',
        unit: 'ms',
        tocsin: median(afterChange),
      };
      return [...rows, changed];
    }),
};
