import type { Coverage, CoveredTechnique } from '../../api/coverage.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/coverage.ts';
import { byNeed, isUnwatchedThreat, percentOf } from './techniques.ts';

type Props = {
  coverage: Coverage;
  techniques: CoveredTechnique[];
  openId: string | undefined;
  onOpen: (id: string) => void;
};

/** The same as the matrix in rows, sub-techniques included, with what needs attention first. */
export function CoverageTable({ coverage, techniques, openId, onOpen }: Props) {
  const names = new Map(coverage.tactics.map(({ shortName, name }) => [shortName, name]));
  return (
    <div className="min-h-0 grow overflow-auto" tabIndex={0} role="region" aria-label={texts.title}>
      <table className="w-full border-collapse text-12">
        <thead>
          <tr className="text-left text-faint">
            {[texts.technique, texts.tactics, texts.rehearsal].map((title) => (
              <th key={title} className="sticky top-0 h-8 border-b bg-surface px-4 font-normal">
                {title}
              </th>
            ))}
            {[`${texts.coverage} %`, texts.detections, texts.threats, texts.suggestions].map((title) => (
              <th
                key={title}
                className="sticky top-0 h-8 border-b bg-surface px-4 text-right font-normal whitespace-nowrap"
              >
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="tabular">
          {techniques.toSorted(byNeed).map((technique) => {
            const { id, name, tactics, groupScore, detectionCount, threats, suggestionIds, rehearsed } = technique;
            return (
              <tr
                key={id}
                className={classes('h-8 border-b', id === openId ? 'bg-selected' : 'hover:bg-hover')}
                onClick={() => onOpen(id)}
              >
                <td className="px-4 whitespace-nowrap">
                  <button type="button" className="flex gap-3 text-left hover:text-accent">
                    <span className="w-16 font-mono text-muted">{id}</span>
                    {name}
                  </button>
                </td>
                <td className="max-w-72 truncate px-4 text-muted">
                  {tactics.map((tactic) => names.get(tactic) ?? tactic).join(', ')}
                </td>
                <td
                  className={classes(
                    'px-4 whitespace-nowrap',
                    rehearsed?.state === 'did_not_fire' ? 'text-high' : 'text-muted',
                  )}
                >
                  {rehearsed ? texts.rehearsed[rehearsed.state] : ''}
                </td>
                <td className={classes('px-4 text-right', groupScore === 0 && 'text-faint')}>
                  {percentOf(groupScore)}
                </td>
                <td className={classes('px-4 text-right', detectionCount === 0 && 'text-faint')}>{detectionCount}</td>
                <td
                  className={classes(
                    'px-4 text-right',
                    isUnwatchedThreat(technique) ? 'font-strong text-high' : !threats && 'text-faint',
                  )}
                >
                  {threats?.items ?? 0}
                </td>
                <td className={classes('px-4 text-right', suggestionIds.length === 0 && 'text-faint')}>
                  {suggestionIds.length}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
