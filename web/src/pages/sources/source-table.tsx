import type { Source } from '../../api/sources.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/sources.ts';
import { Skeleton } from '../../ui/states.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { SourceHealth } from './source-health.tsx';

type Props = {
  /** Undefined while they load. */
  sources: Source[] | undefined;
  openId: string | undefined;
  onOpen: (id: string) => void;
};

export function SourceTable({ sources, openId, onOpen }: Props) {
  if (!sources)
    return Array.from({ length: 6 }, (_, row) => (
      <div key={row} className="flex h-8 items-center border-b px-4">
        <Skeleton className="h-3 w-1/2" />
      </div>
    ));
  return (
    <div className="@container h-full overflow-y-auto" tabIndex={0} role="region" aria-label={texts.title}>
      <table className="w-full table-fixed border-collapse text-12">
        <thead>
          <tr className="h-8 border-b text-left text-faint">
            <th className="pr-2 pl-4 font-normal">{texts.name}</th>
            <th className="w-20 px-2 font-normal @max-xl:hidden">{texts.kind}</th>
            <th className="w-24 px-2 font-normal @xl:w-32">{texts.health}</th>
            <th className="w-28 px-2 text-right font-normal @max-xl:hidden">{texts.lastPull}</th>
            <th className="w-26 pr-4 pl-2 text-right font-normal @xl:w-28">{texts.lastNew}</th>
          </tr>
        </thead>
        <tbody>
          {sources.map((source) => (
            <tr
              key={source.id}
              onClick={() => onOpen(source.id)}
              className={classes('h-8 border-b', source.id === openId ? 'bg-selected' : 'hover:bg-hover')}
            >
              <td className="pr-2 pl-4">
                <button type="button" className="block max-w-full truncate text-13 hover:text-accent">
                  {source.name}
                </button>
              </td>
              <td className="px-2 text-muted uppercase @max-xl:hidden">{source.kind}</td>
              <td className="px-2">
                <SourceHealth source={source} />
              </td>
              <td className="px-2 text-right text-muted @max-xl:hidden">
                {source.lastPullAt ? <RelativeTime time={source.lastPullAt} /> : '–'}
              </td>
              <td className="pr-4 pl-2 text-right text-muted">
                {source.lastNewAt ? <RelativeTime time={source.lastNewAt} /> : '–'}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
