import { texts as common } from '../../../texts/common.ts';
import { useMutation } from '@tanstack/react-query';
import { texts } from '../../../texts/relevance.ts';
import { Button } from '../../../ui/button.tsx';
import { FormError, TextArea, TextField } from '../../../ui/forms/field.tsx';
import { Dialog, DialogActions } from '../../../ui/overlays/dialog.tsx';
import { PlatformChecks } from './platform-checks.tsx';
import { emptyRequirement, toRequirementDraft, type Requirement, type RequirementDraft } from './profile-draft.ts';
import { RestoredDraft, useDraft } from '../../../ui/forms/use-draft.tsx';

type Props = {
  /** Undefined for a new one. */
  requirement: Requirement | undefined;
  onSave: (draft: RequirementDraft) => Promise<unknown>;
  onClose: () => void;
};

/** A requirement as a form. Load it with `lazy`. */
export default function RequirementForm({ requirement, onSave, onClose }: Props) {
  const [draft, setDraft, kept] = useDraft(
    `requirement ${requirement?.name ?? ''}`,
    requirement ? toRequirementDraft(requirement) : emptyRequirement,
  );
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => onSave(draft),
    onSuccess: () => {
      kept.reset();
      onClose();
    },
  });
  const field = (name: Exclude<keyof RequirementDraft, 'platforms'>, hint: string) => ({
    label: texts.requirement[name],
    hint,
    value: draft[name],
    onChange: ({ target }: { target: { value: string } }) => setDraft({ ...draft, [name]: target.value }),
  });
  return (
    <Dialog
      title={requirement ? texts.requirement.edit : texts.requirement.add}
      description={texts.requirement.body}
      isWide
      onClose={onClose}
    >
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <TextField {...field('name', texts.requirement.nameHint)} required />
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField {...field('keywords', texts.requirement.keywordsHint)} />
          <TextField {...field('sectors', texts.sectorsHint)} />
          <TextField {...field('regions', texts.regionsHint)} />
          <TextField {...field('names', texts.requirement.namesHint)} />
          <TextField {...field('techniques', texts.requirement.techniquesHint)} />
        </div>
        <TextArea {...field('products', texts.productsHint)} />
        <TextArea {...field('values', texts.requirement.valuesHint)} />
        <PlatformChecks chosen={draft.platforms} onChange={(platforms) => setDraft({ ...draft, platforms })} />
        <FormError error={error} />
        <RestoredDraft draft={kept} />
        <DialogActions>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" kind="primary" disabled={isPending}>
            {texts.requirement.save}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
