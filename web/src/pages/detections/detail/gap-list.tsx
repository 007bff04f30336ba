import type { TimelineWindow } from '../../../api/detections.ts';
import { classes, toWords } from '../../../lib/text.ts';
import { texts } from '../../../texts/detection.ts';
import { ExactTime } from '../../../ui/time.tsx';
import type { TimeRange } from './timeline.tsx';

const shownMax = 50;
type Props = { gaps: readonly TimelineWindow[]; selected: TimeRange | null; onSelect: (range: TimeRange) => void };

/** The gaps as a table, the latest first. Choosing one selects its time. */
export function GapList({ gaps, selected, onSelect }: Props) {
  return (
    <div className="overflow-x-auto rounded-control border">
      <table className="w-full text-12">
        <thead>
          <tr className="border-b text-left text-faint">
            <th className="h-8 px-3 font-normal">{texts.timeline.from}</th>
            <th className="h-8 px-3 font-normal">{texts.timeline.to}</th>
            <th className="h-8 w-full px-3 font-normal">{texts.timeline.reason}</th>
            <th className="h-8 px-3">
              <span className="sr-only">{texts.timeline.selected}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {gaps
            .toReversed()
            .slice(0, shownMax)
            .map(({ from, to, reason, detail }) => (
              <tr key={from} className={classes('border-b last:border-b-0', selected?.from === from && 'bg-selected')}>
                <td className="h-8 px-3">
                  <ExactTime time={from} />
                </td>
                <td className="h-8 px-3">
                  <ExactTime time={to} />
                </td>
                <td className="px-3" title={detail ?? undefined}>
                  {reason && toWords(reason)}
                  {detail && <span className="text-muted"> · {detail}</span>}
                </td>
                <td className="px-3 text-right">
                  <button
                    type="button"
                    onClick={() => onSelect({ from, to })}
                    className="whitespace-nowrap text-accent underline-offset-2 hover:underline"
                  >
                    {texts.timeline.estimate}
                  </button>
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}
