import { appInstallation, payloadWords, type StatementRow } from './statement-words.ts';

/** Statements of techniques of stealth and defense impairment. */
export const evasionStatements: StatementRow[] = [
  [
    'T1574.001',
    'dll dlls side-loading sideloading sideload sideloads sideloaded side-load side-loaded side-loads hijacking loaded',
    /\bside-?load(?:s|ed|ing|er)?\b|\bdll (?:search[- ]order )?hijack|\bdlls?\b[^.!?]{0,60}\bloaded by (?:an? )?(?:[\w-]+ ){0,3}(?:legitimate|signed|benign|trusted)|\bloaded by (?:an? )?(?:copy of )?(?:an? )?(?:legitimate|signed) (?:[\w-]+ ){0,3}(?:file|binary|executable|program|application)\b/i,
    { exception: appInstallation },
  ],
  [
    'T1055',
    'inject injects injected injecting injection',
    /\bprocess (?:injection|hollowing)\b|\binject(?:s|ed|ing)\b[^.!?]{0,60}\b(?:process(?:es)?|explorer\.exe|svchost\.exe|memory|\w+\.exe)\b/i,
  ],
  [
    'T1055',
    'injected',
    /\b(?:with|contain(?:s|ed|ing)?) injected (?:code|shellcode|threads?)\b|\binjected (?:code|shellcode|payload) (?:in|into|inside)\b/i,
    {
      exception:
        /\b(?:web ?(?:sites?|pages?)|pages?|html|sql|javascript|packages?|scripts?|repositor(?:y|ies)|wordpress)\b/i,
    },
  ],
  [
    'T1620',
    'reflective reflectively reflection load assembly',
    /\breflective(?:ly)?(?: \w+)? (?:load|inject|dll)|\b(?:load|execut)\w*\b[^.!?]{0,60}\b(?:using|via|through) (?:\.net )?reflection\b|\breflection\.assembly\b|\bassembly\.load\b/i,
  ],
  ['T1014', 'rootkit rootkits', /\brootkits?\b/i],
  ['T1542.003', 'bootkit bootkits', /\bbootkits?\b/i],
  [
    'T1027.002',
    'packed packer upx vmprotect themida packing enigma confuserex reactor',
    /\b(?:packed|packer|packing)\b[^.!?]{0,40}\b(?:upx|vmprotect|themida|custom|aspack|enigma)|\bprotected (?:using|with|by)\b[^.!?]{0,20}\b(?:enigma|vmprotect|themida|confuserex|\.net reactor)\b|\b(?:upx|vmprotect|themida|custom packer)\b/i,
  ],
  [
    'T1027',
    'obfuscated obfuscation obfuscates obfuscate obfuscating base64 base64-encoded encoded',
    /\bobfuscat(?:ed|es?|ion|ing)\b|\b(?:base64|hex)[- ]?encoded\b[^.!?]{0,30}\b(?:powershell|commands?|scripts?|payloads?|strings?|shellcode|binar(?:y|ies)|data|executables?)\b|\b(?:powershell|commands?|scripts?|payloads?|shellcode) (?:is|are|was|were) (?:base64|hex)[- ]?encoded\b|\bencoded (?:powershell|commands?|shellcode)\b/i,
  ],
  ['T1027.003', 'steganography steganographic', /\bsteganograph/i],
  [
    'T1140',
    'decrypt decrypts decrypted decode decodes decoded deobfuscate deobfuscates de-obfuscate de-obfuscates decompress decompresses decryption',
    new RegExp(
      String.raw`\b(?:decrypt|decod|de-?obfuscat|decompress)(?:s|es|e|ed|ing|ion)?\b[^.!?]{0,60}\b(?:${payloadWords}|strings?|config\w*|next stage|code|resources?|and (?:run|execut|load)\w*)`,
      'i',
    ),
    { exception: /\b(?:ransom|decryptors?|decryption (?:tools?|keys?)|for free|victims? decrypt)/i },
  ],
  [
    'T1553.002',
    'signed certificate certificates signature code-signing code-signed',
    /\b(?:digitally|code)[- ]sign(?:ed|ing)\b|\bsigned (?:with|by|using|installers?|drivers?|binar(?:y|ies)|malware|executables?|with digital)\b[^.!?]{0,60}|\b(?:stolen|revoked|valid|fraudulent|legitimate|expired|compromised)(?: [\w-]+){0,2} (?:certificates?|digital signatures?)\b/i,
  ],
  [
    'T1140',
    'decrypts decrypted decrypting',
    /\bdecrypt(?:s|ed|ing)? (?:it|them|the (?:[\w-]+ ){0,2}(?:blob|response|data|body|content|archive|zip))\b/i,
    { exception: /\b(?:ransom\w*|decryptors?|decryption (?:tools?|keys?)|victims?|files back)\b/i },
  ],
  ['T1553.005', 'mark-of-the-web motw mark', /\bmark[- ]of[- ]the[- ]web\b|\bmotw\b/i],
  [
    'T1036',
    'masquerade masquerades masqueraded masquerading disguise disguised disguises disguising presents guise',
    /\b(?:masquerad(?:e|es|ed|ing)|disguis(?:ed|es|ing)(?: (?:itself|themselves|the \w+))?)(?: itself)? as\b[^.!?]{0,60}\b(?:file|files|software|app|apps|application|applications|updates?|updater|installer|installers|documents?|services?|process|processes|tools?|web server|utility|plugin|program|library|executable|png|pdf|jpe?g|word|excel|invoices?)\b|\b(?:rat|trojan|malware|backdoor|loader|implant|payload|binary|executable|stealer)s?\b[^.!?,]{0,20}\b(?:masquerad|disguis)(?:es|ed|ing)(?: itself)? as\b(?! the\b)|\bdisguised (?:executable|file|installer|malware|payload)|\bpresents? (?:itself|themselves) as\b|\b(?:as (?:an? )?disguises?|under the guise of)\b/i,
  ],
  [
    'T1036',
    'poses posing posed',
    /\bpos(?:e|es|ed|ing) as (?:an? |the )?(?:[\w-]+ ){0,3}(?:generators?|librar(?:y|ies)|packages?|plug-?ins?|extensions?|(?:development |developer )?tools?|utilit(?:y|ies)|apps?|applications?|software|installers?|updates?|games?|cheats?|drivers?|documents?)\b/i,
  ],
  ['T1036.007', 'extension extensions', /\bdouble (?:file )?extensions?\b/i],
  [
    'T1036.003',
    'renamed',
    /\brenamed (?:versions?|cop(?:y|ies)|binar(?:y|ies)|executables?|instances?|[\w.-]+\.exe)\b/i,
  ],
  [
    'T1036.008',
    'fake jpeg jpg png image',
    /\bfake (?:jpe?g|png|gif|image|picture|pdf)\b(?: (?:image|file|document))?/i,
  ],
  [
    'T1036.005',
    'blend mimic legitimate resemble',
    /\b(?:names?|named|file ?names?|paths?)\b[^.!?]{0,50}\b(?:to (?:look|appear) (?:like|similar|legitimate)|to (?:mimic|resemble|blend))\b/i,
  ],
  [
    'T1686',
    'firewall',
    /\b(?:disabl|turn(?:s|ed|ing)? off|modif|alter|chang|add|creat)\w*\b[^.!?]{0,40}\bfirewall\b(?: (?:rules?|exceptions?|settings))?/i,
  ],
  [
    'T1112',
    'registry',
    /\b(?:modif|chang|edit|alter|writ|tamper)\w*\b[^.!?]{0,30}\b(?:the )?(?:windows |system )?registry\b|\bregistry (?:modifications?|changes?)\b|\b(?:sets?|setting|creates?|created|adds?|added) [^.!?]{0,40}\bregistry (?:values?|keys?|entr(?:y|ies))\b/i,
    { exception: /\b(?:run|runonce|autorun|currentversion\\run)\b|\bpersist/i },
  ],
  [
    'T1685',
    'antivirus edr defender amsi security byovd',
    /\b(?:disabl|terminat|kill|uninstall|tamper|impair|unhook|neutrali[sz]|turn(?:s|ed|ing)? off|shut(?:s|ting)? down)\w*\b[^.!?]{0,50}\b(?:antivirus|anti-virus|edr|windows defender|microsoft defender|defender|amsi|security (?:tools?|software|products?|solutions?)|endpoint (?:protection|security|detection))\b|\bbypass\w*\b[^.!?]{0,20}\b(?:amsi|edr|(?:windows |microsoft )?defender)\b|\bbyovd\b|\bbring[- ]your[- ]own[- ]vulnerable[- ]driver|\bedr[- ]kill/i,
  ],
  [
    'T1685.005',
    'log logs',
    /\b(?:clear|wip|delet|eras)(?:e|es|ed|ing|s)?\b[^.!?]{0,30}\b(?:windows )?(?:event|system|security) logs?\b/i,
  ],
  [
    'T1070.006',
    'timestomp timestomping timestomped timestamp timestamps',
    /\btimestomp|\b(?:modif|chang|alter|manipulat|forg)\w*\b[^.!?]{0,40}\btime ?stamps?\b/i,
  ],
  [
    'T1070.004',
    'delete deletes deleted deleting remove removes removed removing erases erased',
    /\b(?:delet|remov|eras)(?:e|es|ed|ing)\b (?:itself|themselves|(?:its|their) (?:own |dropped )?(?:files?|executables?|tools?|traces|tracks|scripts?|binar(?:y|ies)|payloads?)|the (?:original|dropped|downloaded|initial|malicious) (?:[\w-]+ ){0,2}(?:files?|documents?|executables?|archives?|scripts?|installers?)|(?:all )?(?:evidence|traces|artifacts))\b/i,
  ],
  [
    'T1497',
    'sandbox sandboxes sandboxed virtual vm vms debugger emulator virtualization',
    /\b(?:check|detect|evad|avoid|anti|bypass|determin|look|identif)\w*\b[- ]?[^.!?]{0,50}\b(?:sandbox(?:es|ed|ing)?|virtual machines?|vms?|virtuali[sz]ation|emulators?|analysis environments?)\b|\b(?:sandbox|vm)[- ](?:evasion|detection|aware)/i,
  ],
  [
    'T1497.001',
    'cpu cpus cores ram memory uptime',
    /\b(?:skip|exit|abort|terminat|quit|stop)\w*\b[^.!?]{0,30}(?:\b(?:if|on|when|with|hosts?|machines?|fewer|less)\b|<)[^.!?]{0,30}\b(?:cpus?|cores|ram|gb of memory)\b|\bcheck\w*\b[^.!?]{0,40}\b(?:cpu count|number of (?:cpus?|cores|processors)|amount of (?:ram|memory)|(?:system )?uptime)\b/i,
  ],
  [
    'T1622',
    'debugger debuggers debugging',
    /\b(?:detect|check|anti|presence|present|attach)\w*\b[- ][^.!?]{0,40}\bdebugg(?:ers?|ing)\b|\bdebuggers? (?:is|are) (?:present|attached|detected)\b/i,
  ],
  [
    'T1564.008',
    'rule rules',
    /\b(?:inbox|mailbox|e-?mail|outlook) rules?\b[^.!?]{0,40}\b(?:delet|hid|mov|archiv)(?:e|es|ed|ing)?\b/i,
  ],
  ['T1480', 'geofencing geofenced guardrails guardrail', /\bgeo-?fenc|\bexecution guardrails?\b|\bas an? guardrail\b/i],
  ['T1564.001', 'hidden', /\bhidden (?:files?|directories|directory|folders?|attributes?)\b/i],
  [
    'T1564.006',
    'virtual vm vms virtualbox qemu',
    /\bhidden virtual machines?\b|\b(?:rogue|hidden) vms?\b|\b(?:from (?:within|inside)|inside|within) an? (?:[\w-]+ )?(?:virtual machine|vm)\b|\b(?:attackers?|actors?|malware|ransomware|gang|group|script)\b[^.!?]{0,60}\b(?:virtualbox|qemu)\b|\b(?:virtualbox|qemu)\b[^.!?]{0,40}\b(?:used by the (?:attackers?|actors?)|deployed|installed|dropped)\b/i,
    { exception: /\b(?:sandbox|analy[sz]|researchers?|check|detect|debug)/i },
  ],
  ['T1222', 'chmod icacls chattr attrib', /\b(?:chmod|icacls)\b/i],
  ['T1218.001', 'chm', /\bcompiled html\b|\bchm files?\b/i],
  ['T1134', 'token tokens', /\b(?:access )?token (?:impersonation|theft|manipulation)\b/i],
  ['T1218.005', 'mshta mshta.exe', /\bmshta(?:\.exe)?\b/i],
  ['T1218.010', 'regsvr32 regsvr32.exe', /\bregsvr32(?:\.exe)?\b/i],
  ['T1218.011', 'rundll32 rundll32.exe', /\brundll32(?:\.exe)?\b/i],
  ['T1218.007', 'msiexec msiexec.exe', /\bmsiexec(?:\.exe)?\b/i],
  ['T1127.001', 'msbuild msbuild.exe', /\bmsbuild(?:\.exe)?\b/i],
  ['T1197', 'bitsadmin bits', /\bbitsadmin\b|\bbits jobs?\b/i],
];
