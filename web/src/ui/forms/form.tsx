import { useId, type ComponentProps } from 'react';
import { classes } from '../../lib/text.ts';

type FieldProps = {
  label: string;
  hint?: React.ReactNode;
  error?: string | undefined;
  className?: string;
  /** Receives what connects the control with its label and messages. */
  children: (control: { id: string; 'aria-describedby': string; 'aria-invalid': boolean }) => React.ReactNode;
};

/** A control with its label, and below it a hint or what is wrong. */
export function Field({ label, hint, error, className, children }: FieldProps) {
  const id = useId();
  return (
    <div className={classes('flex min-w-0 flex-col gap-1', className)}>
      <label htmlFor={id} className="text-12 wrap-anywhere text-muted">
        {label}
      </label>
      {children({ id, 'aria-describedby': `${id}-note`, 'aria-invalid': error !== undefined })}
      <div id={`${id}-note`} className={classes('text-12 break-words empty:hidden', error ? 'text-bad' : 'text-faint')}>
        {error ?? hint}
      </div>
    </div>
  );
}

const control =
  'min-w-0 rounded-control border border-line-strong bg-surface px-2 placeholder:text-faint aria-invalid:border-bad disabled:opacity-50';

export function TextInput({ className, ...props }: ComponentProps<'input'>) {
  return (
    <input autoComplete="off" spellCheck={false} {...props} className={classes(control, 'h-8 w-full', className)} />
  );
}

export function TextArea({ className, ...props }: ComponentProps<'textarea'>) {
  return (
    <textarea
      {...props}
      className={classes(control, 'min-h-20 w-full py-1.5 leading-5 field-sizing-content', className)}
    />
  );
}

/** `className` replaces the usual size. */
export function SelectInput({ className = 'h-8 w-full', ...props }: ComponentProps<'select'>) {
  return <select {...props} className={classes(control, className)} />;
}
