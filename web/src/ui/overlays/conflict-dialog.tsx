import type { RecordChange } from '../../api/problem.ts';
import { texts } from '../../texts/conflicts.ts';
import { Button } from '../button.tsx';
import { RelativeTime } from '../time.tsx';
import { Dialog, DialogActions } from './dialog.tsx';

type Props = { changes: readonly RecordChange[]; onAnswer: (isAgain: boolean) => void };

const valueMax = 120;

/** What others changed since the user saw the record, and whether the user's change applies nevertheless. */
export default function ConflictDialog({ changes, onAnswer }: Props) {
  return (
    <Dialog title={texts.title} description={texts.body} onClose={() => onAnswer(false)}>
      <ul className="flex max-h-80 flex-col gap-3 overflow-y-auto pb-3" aria-label={texts.changes}>
        {changes.map((change, index) => (
          <li key={index} className="flex min-w-0 flex-col gap-0.5">
            <p className="flex flex-wrap items-baseline gap-x-2">
              <span className="font-strong break-words">{whoOf(change)}</span>
              {change.at && (
                <span className="text-12 text-muted">
                  <RelativeTime time={change.at} />
                </span>
              )}
            </p>
            {change.subject !== null && <p className="break-words">{change.subject}</p>}
            {change.fields.length === 0 && <p className="text-12 text-muted">{texts.unrecorded}</p>}
            {change.fields.map(({ field, before, after }) => (
              <p key={field} className="text-12 break-words text-muted">
                {texts.field(field, toText(before), toText(after))}
              </p>
            ))}
          </li>
        ))}
      </ul>
      {changes.length === 0 && <p className="text-muted">{texts.unknown}</p>}
      <DialogActions>
        <Button onClick={() => onAnswer(false)}>{texts.keep}</Button>
        <Button kind="primary" onClick={() => onAnswer(true)}>
          {texts.again}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

const whoOf = ({ actor, keyId }: RecordChange): string => actor ?? (keyId === null ? texts.service : texts.key(keyId));

function toText(value: unknown): string {
  if (value === null || value === undefined || value === '') return texts.nothing;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > valueMax ? `${text.slice(0, valueMax)}…` : text;
}
