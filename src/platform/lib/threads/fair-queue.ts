/**
 * Jobs that wait, each with the key of its owner. Owners take turns, so that one with many jobs does not delay the others: the next job is the
 * oldest of the owner that was served longest ago.
 */
export type FairQueue<Job> = {
  size: () => number;
  /** Returns the number of jobs of one owner. */
  sizeOf: (key: string) => number;
  push: (key: string, job: Job) => void;
  /** Removes and returns the next job of an owner that may run one. */
  take: (mayRun: (key: string) => boolean) => Job | undefined;
  remove: (key: string, job: Job) => boolean;
  /** Removes and returns all jobs. */
  drain: () => Job[];
};

export function createFairQueue<Job>(): FairQueue<Job> {
  // In the order in which the owners are served.
  const jobsByKey = new Map<string, Job[]>();
  let size = 0;
  return {
    size: () => size,
    sizeOf: (key) => jobsByKey.get(key)?.length ?? 0,
    push(key, job) {
      const jobs = jobsByKey.get(key);
      if (jobs) jobs.push(job);
      else jobsByKey.set(key, [job]);
      size += 1;
    },
    take(mayRun) {
      for (const [key, jobs] of jobsByKey) {
        if (!mayRun(key)) continue;
        const job = jobs.shift()!;
        jobsByKey.delete(key);
        if (jobs.length > 0) jobsByKey.set(key, jobs);
        size -= 1;
        return job;
      }
      return undefined;
    },
    remove(key, job) {
      const jobs = jobsByKey.get(key) ?? [];
      const index = jobs.indexOf(job);
      if (index < 0) return false;
      jobs.splice(index, 1);
      if (jobs.length === 0) jobsByKey.delete(key);
      size -= 1;
      return true;
    },
    drain() {
      const all = [...jobsByKey.values()].flat();
      jobsByKey.clear();
      size = 0;
      return all;
    },
  };
}
