import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { createAgent } from '../../../api/agents.ts';
import { PageHeader } from '../../../shell/page-header.tsx';
import { texts } from '../../../texts/agents.ts';
import { texts as editor } from '../../../texts/editor.ts';
import { Button } from '../../../ui/button.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import { agentOf, emptyDraft, type Draft } from '../editor/draft.ts';
import { problemFinder } from '../editor/problem-finder.ts';
import { useProposedTools } from '../editor/use-proposed-tools.ts';
import { AgentForm } from './agent-form.tsx';
import { RestoredDraft, useDraft } from '../../../ui/forms/use-draft.tsx';

/** Writes a new response agent. */
export function NewAgentPage() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [{ changes }, setChanges, kept] = useDraft('new agent', { changes: {} as Partial<Draft> });
  const draft = { ...emptyDraft, cadence: '' as const, toolNames: useProposedTools(), ...changes };
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => createAgent(agentOf(draft)),
    onSuccess: ({ id }) => {
      kept.reset();
      toasts.add({ title: editor.created });
      void client.invalidateQueries({ queryKey: ['agents'] });
      void navigate({ to: '/agents/$id', params: { id }, search: { tab: 'triggers' } });
    },
  });
  return (
    <>
      <PageHeader
        title={texts.create}
        parent={
          <Link to="/agents" className="text-muted hover:text-ink">
            {texts.title}
          </Link>
        }
      />
      <div className="min-h-0 grow overflow-y-auto">
        <AgentForm
          draft={draft}
          problemOf={problemFinder(error)}
          onChange={(change) => setChanges((old) => ({ changes: { ...old.changes, ...change } }))}
          footer={
            <>
              <Button kind="primary" disabled={isPending} onClick={() => mutate()}>
                {texts.createAction}
              </Button>
              <RestoredDraft draft={kept} />
              {error && (
                <span className="text-bad" role="alert">
                  {editor.failed} {error.message}
                </span>
              )}
            </>
          }
        />
      </div>
    </>
  );
}
