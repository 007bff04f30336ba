import { answerTasks } from '../../lib/thread.ts';
import { extractItem, type ReportText } from './extract-item.ts';

answerTasks((report: ReportText) => extractItem(report));
