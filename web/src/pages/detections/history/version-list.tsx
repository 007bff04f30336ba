import { classes } from '../../../lib/text.ts';
import { texts as common } from '../../../texts/common.ts';
import { texts as proof } from '../../../texts/proof.ts';
import { RelativeTime } from '../../../ui/time.tsx';

const texts = proof.prompts;

type Version = {
  number: number;
  title: string;
  note: string;
  createdAt: string;
  author: { name: string | null } | null;
  active: boolean;
};
type Props = { label: string; versions: readonly Version[]; shown: number; onChoose: (number: number) => void };

/** The versions of something, newest first, of which one is shown beside the list. */
export function VersionList({ label, versions, shown, onChoose }: Props) {
  return (
    <nav aria-label={label} className="flex w-60 shrink-0 flex-col gap-px max-md:w-full">
      {versions.map(({ number, title, note, createdAt, author, active }) => (
        <button
          key={number}
          type="button"
          aria-pressed={number === shown}
          onClick={() => onChoose(number)}
          className={classes(
            'flex flex-col items-start rounded-control px-2.5 py-1.5 text-left',
            number === shown ? 'bg-selected' : 'hover:bg-hover',
          )}
        >
          <span className="flex w-full items-center justify-between gap-2">
            <span className="font-strong">{title}</span>
            {active && <span className="text-12 text-good">{texts.active}</span>}
          </span>
          {note !== '' && <span className="line-clamp-2 wrap-anywhere">{note}</span>}
          <span className="text-12 text-muted">
            <RelativeTime time={createdAt} /> {common.by(author?.name ?? texts.service)}
          </span>
        </button>
      ))}
    </nav>
  );
}
