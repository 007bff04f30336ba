import { lazy, Suspense, useState } from 'react';
import { eraseValue } from '../../../api/access.ts';
import { texts as all } from '../../../texts/settings.ts';
import { Button } from '../../../ui/button.tsx';
import { TextField } from '../../../ui/forms/field.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import { SettingsSection } from '../section.tsx';

const ConfirmDialog = lazy(() => import('../../../ui/overlays/confirm-dialog.tsx'));

const texts = all.retention;

/** Erases a value from everything that is stored. */
export function EraseValue() {
  const [field, setField] = useState('');
  const [value, setValue] = useState('');
  const [isAsking, setIsAsking] = useState(false);
  const erase = async (): Promise<void> => {
    const { logs, hits } = await eraseValue(field.trim(), value);
    toasts.add({ title: texts.erased(logs, hits) });
    setField('');
    setValue('');
  };
  return (
    <SettingsSection title={texts.erase} description={texts.eraseBody}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          setIsAsking(true);
        }}
      >
        <div className="grid gap-4 md:grid-cols-2">
          <TextField
            label={texts.field}
            hint={texts.fieldHint}
            value={field}
            required
            maxLength={255}
            className="font-mono"
            onChange={(event) => setField(event.target.value)}
          />
          <TextField
            label={texts.value}
            hint={texts.valueHint}
            value={value}
            required
            minLength={3}
            maxLength={4000}
            className="font-mono"
            onChange={(event) => setValue(event.target.value)}
          />
        </div>
        <Button kind="danger" type="submit" className="self-start">
          {texts.erase}
        </Button>
      </form>
      <Suspense>
        {isAsking && (
          <ConfirmDialog
            title={texts.confirmTitle}
            action={texts.erase}
            onClose={() => setIsAsking(false)}
            onConfirm={erase}
          >
            {texts.confirmBody(field.trim(), value)}
          </ConfirmDialog>
        )}
      </Suspense>
    </SettingsSection>
  );
}
