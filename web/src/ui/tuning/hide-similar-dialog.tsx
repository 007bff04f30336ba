import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { exceptionProposalsQuery, type ExceptionProposal } from '../../api/detection-parts.ts';
import { sessionQuery } from '../../api/session.ts';
import { classes, countOf } from '../../lib/text.ts';
import { texts as common } from '../../texts/common.ts';
import { texts as proof } from '../../texts/proof.ts';
import { Button } from '../button.tsx';
import { RestoredDraft, useDraft } from '../forms/use-draft.tsx';
import { Notice } from '../notice.tsx';
import { Dialog, DialogActions } from '../overlays/dialog.tsx';
import { Skeleton } from '../states.tsx';
import { ExceptionRule } from './exception-rule.tsx';
import { ExceptionTerms, useCreateException, type Terms } from './create-exception.tsx';

const texts = proof.similar;

type Props = {
  detectionId: string;
  /** Without it, the service chooses false positives that are alike. */
  hitIds?: readonly string[] | undefined;
  onClose: () => void;
};

/** Exceptions that the service proposes for false positives, with proof, and the form that creates one of them. */
export default function HideSimilarDialog({ detectionId, hitIds, onClose }: Props) {
  const { data, error } = useQuery(exceptionProposalsQuery(detectionId, hitIds));
  const session = useQuery(sessionQuery);
  const [chosen, setChosen] = useState(0);
  const [{ reason, days, owner }, setTerms, draft] = useDraft<Terms>(`similar ${detectionId}`, {
    reason: '',
    days: '90',
    owner: undefined,
  });
  const { mutate, isPending } = useCreateException(detectionId, draft, onClose);
  const proposal = data?.proposals[chosen];
  const ownerName = owner ?? session.data?.subject ?? '';
  return (
    <Dialog
      isWide
      title={texts.title}
      description={
        data && data.proposals.length > 0 ? texts.intro(countOf(data.hitIds.length, 'false positive')) : texts.looking
      }
      onClose={onClose}
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (data && proposal)
            mutate({
              rule: proposal.exception,
              hitIds: data.hitIds,
              reason: reason.trim(),
              days,
              ...(ownerName.trim() !== '' && { owner: ownerName.trim() }),
            });
        }}
      >
        {error ? (
          <Notice kind="error" title={texts.failed}>
            {error.message}
          </Notice>
        ) : !data ? (
          <Skeleton className="h-48" />
        ) : data.reason !== null ? (
          <p className="max-w-[72ch]">{data.reason}</p>
        ) : (
          <fieldset className="flex flex-col gap-2">
            <legend className="pb-1 text-12 text-muted">{texts.choose}</legend>
            {data.proposals.map((one, index) => (
              <ProposalChoice
                key={JSON.stringify(one.exception)}
                proposal={one}
                total={data.hitIds.length}
                isChosen={index === chosen}
                onChoose={() => setChosen(index)}
              />
            ))}
            <p className="max-w-[72ch] text-12 text-muted">
              {texts.compared(countOf(data.findings, 'finding'), data.isComplete)}
              {data.rehearsals.fire.length > 0 && ` ${texts.fires(data.rehearsals.fire)}`}
              {data.tests.doNotFire.length > 0 && ` ${texts.doNotFire(data.tests.doNotFire)}`}
            </p>
          </fieldset>
        )}
        {proposal && <ExceptionTerms values={{ reason, days, owner: ownerName }} onChange={setTerms} />}
        <RestoredDraft draft={draft} />
        <DialogActions>
          <Button onClick={onClose}>{proposal ? common.cancel : common.close}</Button>
          {proposal && (
            <Button kind="primary" type="submit" disabled={isPending}>
              {texts.create}
            </Button>
          )}
        </DialogActions>
      </form>
    </Dialog>
  );
}

type ChoiceProps = { proposal: ExceptionProposal; total: number; isChosen: boolean; onChoose: () => void };

function ProposalChoice({ proposal, total, isChosen, onChoose }: ChoiceProps) {
  const { exception, hides, keeps, coverage } = proposal;
  const others = hides.hits.filter(({ status }) => status !== 'false_positive').slice(0, shownMax);
  return (
    <label
      className={classes(
        'flex cursor-pointer items-start gap-3 rounded-control border p-3',
        isChosen ? 'border-accent' : 'hover:border-line-strong',
      )}
    >
      <input type="radio" name="proposal" className="mt-1 accent-accent" checked={isChosen} onChange={onChoose} />
      <span className="flex min-w-0 grow flex-col gap-1">
        <ExceptionRule rule={exception} />
        <span>{texts.hides(total, hides.others)}</span>
        <span className="text-12 text-muted">{texts.keeps(keeps)}</span>
        {isChosen && (
          <>
            {others.length > 0 && (
              <span className="flex flex-col text-12">
                {others.map(({ id, headline }) => (
                  <span key={id} className="truncate">
                    {headline}
                  </span>
                ))}
              </span>
            )}
            <span className="pt-1 text-12 text-muted">{texts.coverage}</span>
            {coverage.map((sentence) => (
              <span key={sentence} className="text-12 break-words">
                {sentence}
              </span>
            ))}
          </>
        )}
      </span>
    </label>
  );
}

const shownMax = 5;
