import { lowerThreadPriority, serveTasks } from '../../../platform/lib/threads/thread-worker.ts';
import { convertTask, type ConvertTask } from './convert-task.ts';

lowerThreadPriority();
serveTasks((task: ConvertTask) => Promise.resolve(convertTask(task)));
