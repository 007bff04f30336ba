import { Link } from '@tanstack/react-router';
import type { HitDetail } from '../../api/hits.ts';
import { texts } from '../../texts/hits.ts';
import { BaselineChart, readBaseline } from '../../ui/charts/baseline-chart.tsx';
import { FactList } from '../../ui/evidence/fact-list.tsx';
import { ExactTime } from '../../ui/time.tsx';

/** The facts that code computed from the rows and the history, with a chart where there is a baseline. */
export function Facts({ hit }: { hit: HitDetail }) {
  const baseline = readBaseline(hit.facts);
  return (
    <div className="flex flex-col gap-3">
      {baseline && <BaselineChart baseline={baseline} />}
      <FactList facts={hit.facts}>
        <Fact name={texts.detection}>
          <Link to="/detections/$id" params={{ id: hit.detectionId }} className="underline-offset-2 hover:underline">
            {hit.detection.name}
          </Link>
        </Fact>
        <Fact name={texts.entity}>
          <span className="font-mono text-12 break-all">{hit.entity}</span>
        </Fact>
        <Fact name={texts.window}>
          <ExactTime time={hit.windowFrom} /> – <ExactTime time={hit.windowTo} />
        </Fact>
        <Fact name={texts.confidence}>
          <span className="tabular">{hit.confidence} %</span>
        </Fact>
      </FactList>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}
