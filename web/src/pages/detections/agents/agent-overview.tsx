import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { callsQuery, type Agent } from '../../../api/agents.ts';
import { classes, formatNumber } from '../../../lib/text.ts';
import { nameCall, texts } from '../../../texts/agents.ts';
import { texts as detection } from '../../../texts/detection.ts';
import { Figures } from '../../../ui/charts/figures.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Section } from '../../../ui/section.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { listStarts } from './starts.ts';

const shownMax = 5;

/** What an agent is for, what starts it, and what it waits for. */
export function AgentOverview({ agent }: { agent: Agent }) {
  const { description, deletedAt, warnings = [], runs30d, avgEvalScore30d, modelAlias, activeSystemPrompt } = agent;
  const starts = listStarts(agent);
  return (
    <div className="flex max-w-6xl flex-col gap-8 px-4 py-5">
      {description !== '' && <p className="max-w-[72ch] break-words">{description}</p>}
      {deletedAt && (
        <Notice kind="warning" title={detection.actions.removed}>
          {texts.deletedHint}
        </Notice>
      )}
      {warnings.map(({ code, field, detail }) => (
        <Notice key={`${code} ${field}`} kind="warning" title={texts.warning}>
          {detail}
        </Notice>
      ))}
      <Figures
        figures={[
          { label: texts.figures.runs, value: formatNumber(runs30d) },
          { label: texts.figures.score, value: avgEvalScore30d ?? '–', hint: detection.figures.scoreHint },
          { label: texts.figures.model, value: modelAlias },
        ]}
      />
      <Section
        level={2}
        title={texts.startsTitle}
        actions={
          !agent.isBuiltIn && (
            <Link
              to="/agents/$id"
              params={{ id: agent.id }}
              search={{ tab: 'triggers' }}
              className="text-12 text-muted hover:text-ink"
            >
              {texts.addTriggers}
            </Link>
          )
        }
      >
        {starts.length === 0 ? (
          <p className="text-muted">{agent.isBuiltIn ? texts.builtInOff : texts.noTriggers}</p>
        ) : (
          <ul className="flex flex-col gap-1">
            {starts.map(({ id, label, enabled }) => (
              <li key={id} className={classes('wrap-anywhere', !enabled && 'text-muted')}>
                {enabled ? label : texts.off(label)}
              </li>
            ))}
          </ul>
        )}
      </Section>
      {!agent.isBuiltIn && <Proposals id={agent.id} />}
      <Section level={2} title={texts.prompt}>
        <p className="max-w-[72ch] wrap-anywhere whitespace-pre-wrap">{activeSystemPrompt.prompt}</p>
      </Section>
    </div>
  );
}

/** What the agent would change and nobody has decided yet. */
function Proposals({ id }: { id: string }) {
  const { data } = useInfiniteQuery(callsQuery({ state: 'waiting', agentId: id }));
  const calls = data?.pages.flatMap((page) => page.calls) ?? [];
  return (
    <Section
      level={2}
      title={texts.proposals}
      actions={
        <Link to="/approvals" search={{ agent: id }} className="text-12 text-muted hover:text-ink">
          {texts.allProposals}
        </Link>
      }
    >
      {data && calls.length === 0 && <p className="text-muted">{texts.noProposals}</p>}
      <ul className="-mx-2 flex flex-col">
        {calls.slice(0, shownMax).map((call) => (
          <li key={call.id}>
            <Link
              to="/approvals"
              search={{ agent: id, call: call.id }}
              className="flex h-8 items-center gap-2.5 rounded-control px-2 hover:bg-hover"
            >
              <span className="truncate">{nameCall(call)}</span>
              <span className="ml-auto shrink-0 text-12 text-muted">
                <RelativeTime time={call.createdAt} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}
