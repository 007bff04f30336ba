import { serveTasks } from '../../../platform/lib/threads/thread-worker.ts';
import { readLogBody } from './read-log-body.ts';

serveTasks(readLogBody);
