import { Link } from '@tanstack/react-router';
import type { EntityPath, HitDetail } from '../../api/hits.ts';
import { texts as detection } from '../../texts/detection.ts';
import { texts as feed } from '../../texts/feed.ts';
import { texts } from '../../texts/hits.ts';
import { BaselineChart, readBaseline } from '../../ui/charts/baseline-chart.tsx';
import { Fact, FactList } from '../../ui/evidence/fact-list.tsx';
import { TimeRange } from '../../ui/time.tsx';
import { Value } from '../../ui/value.tsx';

/** The facts that code computed from the rows and the history, with a chart where there is a baseline. */
export function Facts({ hit }: { hit: HitDetail }) {
  const { techniques: _, ...facts } = hit.facts;
  const baseline = readBaseline(facts);
  const techniques = [...new Set([...hit.techniques, ...hit.detection.techniques])];
  return (
    <div className="flex flex-col gap-3">
      {baseline && <BaselineChart baseline={baseline} />}
      <FactList facts={facts}>
        <Fact name={texts.detection}>
          <Link to="/detections/$id" params={{ id: hit.detectionId }} className="underline-offset-2 hover:underline">
            {hit.detection.name}
          </Link>
        </Fact>
        {hit.detection.rule && (
          <Fact name={texts.rule}>
            <span className="break-words">{texts.ruleOrigin(hit.detection.rule)}</span>
          </Fact>
        )}
        <Fact name={texts.entity}>
          <span className="font-mono text-12 break-all">
            <Value value={hit.entity} type={hit.entityType as EntityPath['type']} at={hit.windowTo} />
          </span>
        </Fact>
        <Fact name={texts.window}>
          <TimeRange from={hit.windowFrom} to={hit.windowTo} />
        </Fact>
        {hit.latencyMs !== null && (
          <Fact name={texts.latency}>
            <span className="tabular">{detection.continuous.seconds(hit.latencyMs / 1000)}</span>
          </Fact>
        )}
        {techniques.length > 0 && (
          <Fact name={texts.techniques}>
            <span className="flex flex-wrap gap-x-3">
              {techniques.map((id) => (
                <Link
                  key={id}
                  to="/feed"
                  search={{ technique: id }}
                  aria-label={feed.itemsWith(id)}
                  className="font-mono text-12 leading-5 text-accent hover:underline"
                >
                  {id}
                </Link>
              ))}
            </span>
          </Fact>
        )}
        <Fact name={texts.confidence}>
          <span className="tabular">{hit.confidence} %</span>
        </Fact>
      </FactList>
    </div>
  );
}
