import { workerData } from 'node:worker_threads';
import { lowerThreadPriority, serveTasks } from '../../platform/lib/threads/thread-worker.ts';
import { createParser } from './documents/parser.ts';
import { sampleSource } from './sample-source.ts';
import type { SourceTestSettings, SourceTestTask } from './test-source.ts';

const settings = workerData as SourceTestSettings;

lowerThreadPriority();
serveTasks(async ({ source, nowMs }: SourceTestTask) => {
  const parser = createParser(settings.dataDir);
  try {
    return await sampleSource({ parser, settings, now: new Date(nowMs) }, source);
  } finally {
    await parser.close();
  }
});
