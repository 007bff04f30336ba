import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { agentsQuery, callsQuery } from '../../api/agents.ts';
import { addComment, hitCommentsQuery, type HitComment } from '../../api/hits.ts';
import { isUnfinished, runQuery } from '../../api/runs.ts';
import { texts as all, nameCall } from '../../texts/agents.ts';
import { CallActions } from '../../ui/agents/call-view.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code/code-block.tsx';
import { CommentForm, CommentText } from '../../ui/comments/comment.tsx';
import { RunStatusLabel } from '../../ui/labels/run-status.tsx';
import { LoadMore } from '../../ui/lists/load-more.tsx';
import { Section } from '../../ui/section.tsx';
import { ErrorState, Skeleton } from '../../ui/states.tsx';
import { RelativeTime } from '../../ui/time.tsx';

const RunDialog = lazy(() => import('../../ui/agents/run-dialog.tsx'));
const texts = all.comments;

/** What agents would change about a hit, what people and agents say about it, and a question to an agent. */
export function Discussion({ hitId }: { hitId: string }) {
  const [isAsking, setAsking] = useState(false);
  const [runId, setRunId] = useState<string>();
  const query = useInfiniteQuery(hitCommentsQuery(hitId));
  const comments = query.data?.pages.flatMap((page) => page.comments);
  return (
    <>
      <Proposals hitId={hitId} />
      <Section title={texts.title} actions={<Button onClick={() => setAsking(true)}>{all.run.ask}</Button>}>
        {runId !== undefined && <AskedRun key={runId} runId={runId} hitId={hitId} />}
        <CommentForm
          subject={`hit ${hitId}`}
          add={(body) => addComment(hitId, body)}
          refresh={[hitCommentsQuery(hitId).queryKey]}
        />
        {query.error && !comments ? (
          <ErrorState error={query.error} onRetry={() => void query.refetch()} />
        ) : !comments ? (
          <Skeleton className="h-12" />
        ) : comments.length === 0 ? (
          <p className="text-muted">{texts.none}</p>
        ) : (
          <ol aria-label={texts.title} className="flex flex-col gap-3 pt-2">
            {comments.map((comment) => (
              <Comment key={comment.id} comment={comment} />
            ))}
          </ol>
        )}
        <LoadMore query={query} />
      </Section>
      <Suspense>
        {isAsking && (
          <RunDialog hitId={hitId} onStarted={(run) => setRunId(run.runId)} onClose={() => setAsking(false)} />
        )}
      </Suspense>
    </>
  );
}

/** Calls about the hit that wait for a person. */
function Proposals({ hitId }: { hitId: string }) {
  const { data } = useInfiniteQuery(callsQuery({ state: 'waiting', hitId }));
  const calls = data?.pages.flatMap((page) => page.calls) ?? [];
  if (calls.length === 0) return null;
  return (
    <Section title={all.calls.onHit} count={calls.length}>
      <ul aria-label={all.calls.onHit} className="flex flex-col gap-2">
        {calls.map((call) => (
          <li key={call.id} className="flex min-w-0 flex-col gap-2 rounded-control border p-3">
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
              <span className="min-w-0">
                <span className="block font-strong">{nameCall(call)}</span>
                <span className="block text-12 wrap-anywhere text-muted">
                  {call.agentName} · <RelativeTime time={call.createdAt} />
                </span>
              </span>
              <span className="ml-auto">
                <CallActions call={call} />
              </span>
            </div>
            <CodeBlock isWrapped label={all.calls.arguments} text={JSON.stringify(call.input, null, 2)} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** The run that the user asked for, until its comment is there. */
function AskedRun({ runId, hitId }: { runId: string; hitId: string }) {
  const client = useQueryClient();
  const { data: run } = useQuery(runQuery(runId));
  const isEnded = run !== undefined && !isUnfinished(run);
  useEffect(() => {
    if (!isEnded) return;
    void client.invalidateQueries({ queryKey: hitCommentsQuery(hitId).queryKey });
    void client.invalidateQueries({ queryKey: ['agents', 'calls'] });
  }, [client, hitId, isEnded]);
  return (
    <p role="status" className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-control border px-3 py-2">
      {run && <RunStatusLabel run={run} />}
      <span>{!isEnded ? texts.asked : run.status === 'completed' ? texts.askedDone : texts.askedFailed}</span>
      <Link to="/runs/$id" params={{ id: runId }} className="ml-auto text-12 text-accent hover:underline">
        {texts.run}
      </Link>
    </p>
  );
}

function Comment({ comment: { at, body, actor, keyId, agentId, runId } }: { comment: HitComment }) {
  const { data: agents } = useQuery({ ...agentsQuery, enabled: agentId !== null });
  const author = agentId === null ? (actor ?? keyId) : (agents?.find(({ id }) => id === agentId)?.name ?? texts.agent);
  return (
    <li className="flex min-w-0 flex-col gap-1 border-l-2 pl-3">
      <p className="flex flex-wrap gap-x-3 text-12 text-muted">
        <span className="min-w-0 font-strong wrap-anywhere text-ink">{author}</span>
        {agentId !== null && <span>{all.one}</span>}
        <RelativeTime time={at} />
        {runId !== null && (
          <Link to="/runs/$id" params={{ id: runId }} className="text-accent hover:underline">
            {texts.run}
          </Link>
        )}
      </p>
      <CommentText text={body} isByAgent={agentId !== null} />
    </li>
  );
}
