import type { IndicatorLookup } from '../../api/indicators.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/indicators.ts';
import { Skeleton } from '../../ui/states.tsx';
import { IndicatorStatus } from './indicator-status.tsx';

type Props = {
  /** Undefined while they are looked up. */
  indicators: IndicatorLookup[] | undefined;
  count: number;
  openValue: string | undefined;
  onOpen: (value: string) => void;
};

export function LookupTable({ indicators, count, openValue, onOpen }: Props) {
  if (!indicators)
    return Array.from({ length: Math.min(count, 8) }, (_, row) => (
      <div key={row} className="flex h-8 items-center border-b px-4">
        <Skeleton className="h-3 w-1/2" />
      </div>
    ));
  return (
    <table className="w-full table-fixed border-collapse text-12">
      <thead>
        <tr className="h-8 border-b text-left text-faint">
          <th className="px-4 font-normal">{texts.value}</th>
          <th className="w-24 px-2 font-normal max-md:hidden">{texts.type}</th>
          <th className="w-28 px-2 font-normal">{texts.status}</th>
          <th className="w-20 px-4 text-right font-normal">{texts.items}</th>
        </tr>
      </thead>
      <tbody>
        {indicators.map(({ value, type, status, total }) => (
          <tr
            key={value}
            onClick={() => onOpen(value)}
            className={classes('h-8 border-b', value === openValue ? 'bg-selected' : 'hover:bg-hover')}
          >
            <td className="px-4">
              <button type="button" title={value} className="block max-w-full truncate font-mono hover:text-accent">
                {value}
              </button>
            </td>
            <td className="truncate px-2 text-muted max-md:hidden">{type?.replaceAll('_', ' ') ?? '–'}</td>
            <td className="truncate px-2">
              <IndicatorStatus status={status} />
            </td>
            <td className={classes('tabular px-4 text-right', total === 0 && 'text-faint')}>{total}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
