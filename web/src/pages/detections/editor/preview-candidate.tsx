import type { Preview } from '../../../api/detection-parts.ts';
import { texts as editor } from '../../../texts/editor.ts';
import { BaselineChart, readBaseline } from '../../../ui/charts/baseline-chart.tsx';
import { EvidenceTable } from '../../../ui/evidence/evidence-table.tsx';
import { FactList } from '../../../ui/evidence/fact-list.tsx';
import { SeverityMark } from '../../../ui/labels/severity.tsx';
import { VerdictView } from '../../../ui/evidence/verdict-view.tsx';

const texts = editor.preview;
const rowsShown = 5;

/** One entity of a preview: its rows with the cited cells marked, its facts and its verdict. */
export function PreviewCandidate({ candidate }: { candidate: Preview['candidates'][number] }) {
  const { entity, severity, facts, rows, outcome, verdict } = candidate;
  const baseline = readBaseline(facts);
  return (
    <details open className="group rounded-control border bg-surface">
      <summary className="flex items-center gap-2.5 px-3 py-2 select-none">
        <SeverityMark severity={severity} />
        <span className="min-w-0 truncate font-mono text-12">{entity}</span>
        <span className="ml-auto shrink-0 text-12 text-muted">{texts.outcome[outcome]}</span>
      </summary>
      <div className="flex flex-col gap-4 border-t p-3">
        {verdict && <VerdictView verdict={verdict} />}
        <div className="flex flex-col gap-1">
          <EvidenceTable
            rows={rows.slice(0, rowsShown)}
            evidence={verdict?.evidence.filter(({ observation }) => observation === 'rows') ?? []}
          />
          {rows.length > rowsShown && <p className="text-12 text-muted">{texts.moreRows(rows.length - rowsShown)}</p>}
        </div>
        {baseline && <BaselineChart baseline={baseline} />}
        <FactList facts={facts} />
      </div>
    </details>
  );
}
