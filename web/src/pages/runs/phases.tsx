import type { Run } from '../../api/runs.ts';
import { classes, toWords } from '../../lib/text.ts';
import { formatDuration } from '../../lib/time.ts';

/** Shades of one color in turn: phases differ by place and name, not by meaning. */
const shades = ['bg-accent', 'bg-accent/70', 'bg-accent/45', 'bg-accent/25'];

/** How long each phase of a run took, as parts of one bar. */
export function Phases({ phases }: { phases: Run['phases'] }) {
  const total = Math.max(
    1,
    phases.reduce((sum, { ms }) => sum + ms, 0),
  );
  return (
    <div className="flex flex-col gap-2">
      <div className="flex h-3 gap-px overflow-hidden rounded-small" aria-hidden>
        {phases.map(({ name, ms }, index) => (
          <span
            key={name}
            title={`${toWords(name)}: ${formatDuration(ms)}`}
            className={classes('min-w-0.5', shades[index % shades.length])}
            style={{ flexGrow: ms / total }}
          />
        ))}
      </div>
      <ul className="flex flex-wrap gap-x-5 gap-y-1 text-12">
        {phases.map(({ name, ms }, index) => (
          <li key={name} className="flex items-center gap-1.5">
            <span className={classes('size-2 rounded-small', shades[index % shades.length])} aria-hidden />
            <span className="text-muted">{toWords(name)}</span>
            <span className="tabular">{formatDuration(ms)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
