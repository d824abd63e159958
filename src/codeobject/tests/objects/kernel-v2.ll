target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @foo(float addrspace(1)* %a, i32 %n) #0 { 
  ret void
}
attributes #0 = { "amdgpu-implicitarg-num-bytes"="56" }
