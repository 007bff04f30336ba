import { classes } from '../../lib/text.ts';

type Line = { op: 'same' | 'added' | 'removed'; text: string };
const marks: Record<Line['op'], string> = { same: ' ', added: '+', removed: '−' };

/** Lines that were added and removed, with what did not change around them. */
export function DiffView({ lines }: { lines: readonly Line[] }) {
  return (
    <div className="overflow-x-auto rounded-control border py-1 font-mono text-12 leading-5">
      {lines.map(({ op, text }, index) => (
        <div
          key={`${index} ${text}`}
          className={classes(
            'flex gap-2 px-3',
            op === 'added' && 'bg-good/12',
            op === 'removed' && 'bg-bad/12 text-muted line-through decoration-1',
          )}
        >
          <span className={classes('w-3 shrink-0 select-none', op === 'added' ? 'text-good' : 'text-bad')}>
            {marks[op]}
          </span>
          <span className="break-words whitespace-pre-wrap">{text === '' ? '\u00a0' : text}</span>
        </div>
      ))}
    </div>
  );
}
