import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, much of it waiting for processes and browsers, so that their size does not show it. The longest first. */
const longFiles = [
  'suites/guide',
  'suites/several-processes',
  'suites/process',
  'suites/console/accessibility',
  'suites/demo',
  'suites/faults',
  'backfill/rechecks',
  'suites/console/states',
  'suites/soak',
  'suites/isolation',
  'suites/package',
  'portable-queries/shipped-detections',
  'embedded-postgres/root',
  'suites/contract',
  'suites/read-replica',
  'log-engine/process/engine',
  'backup/backup',
  'hostile/full-disk-program',
].map((name) => `/${name}.test.ts`);

/** Starts the longest files first, so that none of them runs alone at the end. The order of the others is that of vitest. */
export default class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const rank = longFiles.findIndex((name) => moduleId.endsWith(name));
      return rank === -1 ? longFiles.length : rank;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- The method of a sequencer.
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
