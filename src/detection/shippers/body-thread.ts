import { serveTasks } from '../../platform/lib/threads/thread-worker.ts';
import { readBody } from './read-shipper-body.ts';

serveTasks(readBody);
