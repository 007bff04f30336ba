import { Link } from '@tanstack/react-router';
import { approveCall, declineCall, type AgentCall } from '../../api/agents.ts';
import { texts as all, nameCall } from '../../texts/agents.ts';
import { Button, buttonClass } from '../button.tsx';
import { CodeBlock } from '../code/code-block.tsx';
import { useChange } from '../forms/use-change.ts';
import { Section } from '../section.tsx';
import { RelativeTime } from '../time.tsx';

const texts = all.calls;

/** What a call would change, with the exact arguments that an approval counts for. */
export function CallView({ call }: { call: AgentCall }) {
  const { agentId, agentName, runId, hitId, input, reason, state, result, expiresAt, actor, keyId } = call;
  const decidedBy = actor ?? keyId;
  return (
    <article className="flex min-w-0 flex-col gap-6 px-4 py-5">
      <header className="flex flex-col gap-2">
        <h2 className="text-15 font-strong text-balance">{nameCall(call)}</h2>
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-12 text-muted">
          <span>{texts.states[state]}</span>
          <Link to="/agents/$id" params={{ id: agentId }} className="min-w-0 truncate hover:text-ink">
            {agentName}
          </Link>
          {state === 'waiting' && (
            <span>
              {texts.expires} <RelativeTime time={expiresAt} />
            </span>
          )}
          {decidedBy !== null && <span className="wrap-anywhere">{texts.decidedBy(decidedBy)}</span>}
        </div>
      </header>
      <Section title={texts.arguments}>
        <CodeBlock isWrapped label={texts.arguments} text={JSON.stringify(input, null, 2)} />
        {state === 'waiting' && <p className="text-12 text-muted">{texts.exactly}</p>}
        {state === 'approved' && <p className="text-12 text-muted">{texts.stuck}</p>}
      </Section>
      {reason !== '' && (
        <Section title={texts.reason}>
          <p className="max-w-[72ch] wrap-anywhere whitespace-pre-wrap">{reason}</p>
        </Section>
      )}
      {result !== null && (
        <Section title={texts.result}>
          <p className={`max-w-[72ch] wrap-anywhere whitespace-pre-wrap ${state === 'failed' ? 'text-bad' : ''}`}>
            {result}
          </p>
        </Section>
      )}
      <div className="flex flex-wrap gap-2">
        {hitId !== null && (
          <Link to="/hits/$id" params={{ id: hitId }} className={buttonClass('secondary')}>
            {texts.seeHit}
          </Link>
        )}
        <Link to="/runs/$id" params={{ id: runId }} className={buttonClass('secondary')}>
          {texts.seeRun}
        </Link>
      </div>
    </article>
  );
}

/** The two decisions about a call that waits. */
export function CallActions({ call }: { call: AgentCall }) {
  const refresh = [['agents', 'calls'], ['hits'], ['suggestions'], ['detections']];
  const approve = useChange({
    change: () => approveCall(call),
    refresh,
    done: ({ state, result }) =>
      state === 'failed'
        ? { title: texts.approvedFailed, ...(result !== null && { description: result }) }
        : texts.approved,
    failed: texts.failed,
  });
  const decline = useChange({
    change: () => declineCall(call),
    refresh,
    done: () => texts.declined,
    failed: texts.failed,
  });
  const isPending = approve.isPending || decline.isPending;
  if (call.state !== 'waiting') return null;
  return (
    <div className="flex flex-wrap gap-1">
      <Button disabled={isPending} onClick={() => approve.mutate(undefined)}>
        {texts.approve}
      </Button>
      <Button disabled={isPending} onClick={() => decline.mutate(undefined)}>
        {texts.decline}
      </Button>
    </div>
  );
}
