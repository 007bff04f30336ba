import { Toast } from '@base-ui/react/toast';
import { X } from 'lucide-react';
import { texts } from '../texts/common.ts';

/** Adds short messages about what happened, from anywhere. */
export const toasts = Toast.createToastManager();

/** Where the messages appear. Rendered once. */
export function Toasts({ children }: { children: React.ReactNode }) {
  return (
    <Toast.Provider toastManager={toasts} timeout={8000}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-4 z-50 w-[min(22rem,calc(100vw-2rem))]">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function ToastList() {
  const { toasts: list } = Toast.useToastManager();
  return list.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      className="mt-2 rounded-control bg-raised p-3 shadow-float transition-opacity data-ending-style:opacity-0"
    >
      <Toast.Content className="grid grid-cols-[1fr_auto_auto] items-center gap-x-3">
        <Toast.Title className={toast.type === 'error' ? 'text-bad' : ''} />
        <Toast.Action className="text-13 font-strong text-accent empty:hidden" />
        <Toast.Close aria-label={texts.close} className="text-faint hover:text-ink">
          <X className="size-3.5" aria-hidden />
        </Toast.Close>
        <Toast.Description className="col-span-3 truncate text-12 text-muted" />
      </Toast.Content>
    </Toast.Root>
  ));
}
