import { serveTasks } from '../../platform/lib/threads/thread-worker.ts';
import { readBody } from './body-reader-tasks.ts';

serveTasks(readBody);
