import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { agentsQuery, runAgent, type Agent } from '../../api/agents.ts';
import { texts as common } from '../../texts/common.ts';
import { texts as all } from '../../texts/agents.ts';
import { Button, buttonClass } from '../button.tsx';
import { FormError, SelectField, TextArea } from '../forms/field.tsx';
import { RestoredDraft, useDraft } from '../forms/use-draft.tsx';
import { Dialog, DialogActions } from '../overlays/dialog.tsx';
import { Skeleton } from '../states.tsx';
import { InputValueFields, inputPointer, readInputs, type TypedInputs } from './input-values.tsx';

const texts = all.run;

type Props = {
  /** The agent that runs. Without it, the user chooses one. */
  agent?: Agent;
  /** The hit that it investigates. */
  hitId?: string;
  onStarted: (run: { runId: string }) => void;
  onClose: () => void;
};

/** Starts a run of a response agent: on a hit, on inputs, with a question. Load it with `lazy`. */
export default function RunDialog({ agent, hitId, onStarted, onClose }: Props) {
  const { data, error } = useQuery({ ...agentsQuery, enabled: agent === undefined });
  const agents = agent ? [agent] : data?.filter(({ isBuiltIn }) => !isBuiltIn);
  return (
    <Dialog
      title={agent && hitId === undefined ? texts.title(agent.name) : texts.ask}
      description={hitId === undefined ? texts.body : texts.askBody}
      onClose={onClose}
    >
      {error ? (
        <FormError error={error} />
      ) : agents === undefined ? (
        <Skeleton className="h-32" />
      ) : agents.length === 0 ? (
        <NoAgents />
      ) : (
        <RunForm agents={agents} hitId={hitId} onStarted={onStarted} onClose={onClose} />
      )}
    </Dialog>
  );
}

function NoAgents() {
  return (
    <>
      <p className="text-muted">{texts.none}</p>
      <DialogActions>
        <Link to="/agents/new" className={buttonClass('primary')}>
          {all.create}
        </Link>
      </DialogActions>
    </>
  );
}

type FormProps = Pick<Props, 'onStarted' | 'onClose'> & { agents: readonly Agent[]; hitId: string | undefined };

function RunForm({ agents, hitId, onStarted, onClose }: FormProps) {
  const [chosen, setChosen] = useState(agents[0]!.id);
  const [{ question, typed }, setValues, draft] = useDraft(`run ${hitId ?? agents[0]!.id}`, {
    question: '',
    typed: {} as TypedInputs,
  });
  const agent = agents.find(({ id }) => id === chosen) ?? agents[0]!;
  const { mutate, error, isPending } = useMutation({
    mutationFn: () =>
      runAgent(agent.id, {
        ...(hitId !== undefined && { hitId }),
        ...(question.trim() !== '' && { question: question.trim() }),
        inputs: readInputs(agent.inputs, typed),
      }),
    onSuccess: (run) => {
      draft.reset();
      onStarted(run);
      onClose();
    },
  });
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        mutate();
      }}
    >
      {agents.length > 1 && (
        <SelectField
          label={texts.agent}
          value={agent.id}
          options={agents.map(({ id, name }) => ({ value: id, label: name }))}
          hint={agent.description || undefined}
          onChange={({ target }) => setChosen(target.value)}
        />
      )}
      <TextArea
        autoFocus
        label={texts.question}
        hint={texts.questionHint}
        value={question}
        onChange={({ target }) => setValues({ question: target.value })}
      />
      <InputValueFields
        inputs={agent.inputs}
        typed={typed}
        error={error}
        onChange={(next) => setValues({ typed: next })}
      />
      <FormError error={error} shown={agent.inputs.map(({ name }) => inputPointer(name))} />
      <RestoredDraft draft={draft} />
      <DialogActions>
        <Button onClick={onClose}>{common.cancel}</Button>
        <Button type="submit" kind="primary" disabled={isPending}>
          {hitId === undefined ? texts.start : texts.startAsk}
        </Button>
      </DialogActions>
    </form>
  );
}
